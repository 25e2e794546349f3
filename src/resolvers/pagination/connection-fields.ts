// The resolvers of all connection and edge types, and of PageInfo.

import type { PageInfoResolvers } from '../generated.ts'
import type { Connection } from './connection.ts'

export interface Edge<T> {
  readonly cursor: string
  readonly node: T
}

export function connectionOf<T>() {
  return {
    nodes: async ({ page }: Connection<T>) => (await page()).nodes,
    async edges({ page, cursorOf }: Connection<T>): Promise<readonly Edge<T>[]> {
      const { nodes } = await page()
      return nodes.map((node) => ({ cursor: cursorOf(node), node }))
    },
    totalCount: ({ count }: Connection<T>) => count(),
    async pageInfo({ page, cursorOf }: Connection<T>) {
      const { nodes, hasNextPage, hasPreviousPage } = await page()
      const [first] = nodes
      const last = nodes.at(-1)
      return {
        hasNextPage,
        hasPreviousPage,
        startCursor: first ? cursorOf(first) : null,
        endCursor: last ? cursorOf(last) : null,
      }
    },
  }
}

export function edgeOf<T>() {
  return {
    cursor: ({ cursor }: Edge<T>) => cursor,
    node: ({ node }: Edge<T>) => node,
  }
}

export const PageInfo = {
  hasNextPage: (page) => page.hasNextPage,
  hasPreviousPage: (page) => page.hasPreviousPage,
  startCursor: (page) => page.startCursor ?? null,
  endCursor: (page) => page.endCursor ?? null,
} satisfies PageInfoResolvers
