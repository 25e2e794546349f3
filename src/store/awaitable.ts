// The type of a result that may be synchronous, so that it reaches its request within this turn of the event loop.

export type Awaitable<T> = T | Promise<T>
