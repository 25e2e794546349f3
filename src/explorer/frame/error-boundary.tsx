// Catches render errors of its children and offers a retry; the rest of the page stays.
import { Component, type ReactNode } from 'react'
import { Failure } from '../design/failure.tsx'

interface ErrorBoundaryProps {
  readonly children: ReactNode
}

/** A class, because React supports error boundaries only as classes. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: unknown }> {
  override readonly state = { error: null }

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    const error: unknown = this.state.error
    if (error === null) return this.props.children
    return (
      <Failure
        title="This page has failed"
        message={`The fault is in these pages, not in the gateway: ${error instanceof Error ? error.message : String(error)}`}
        onRetry={() => this.setState({ error: null })}
        isReloadOffered
      />
    )
  }
}
