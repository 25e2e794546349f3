// An answer that may be there at once: it must reach its request within this turn of the event loop.

export type Awaitable<T> = T | Promise<T>
