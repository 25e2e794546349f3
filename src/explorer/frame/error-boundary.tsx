// A part of a page that failed says so, and offers to try again; the frame around it stays.
import { Component, type ReactNode } from 'react'
import { Failure } from '../design/failure.tsx'
import { failureText } from './connection.ts'

interface ErrorBoundaryProps {
  readonly children: ReactNode
}

/** React gives errors of rendering to classes only. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: unknown }> {
  override readonly state = { error: null }

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Failure
        title="This page has failed"
        message={failureText(error)}
        onRetry={() => this.setState({ error: null })}
      />
    )
  }
}
