// Admission by queue time: when the event loop stays behind, what it cannot answer soon is refused at once instead of waiting.

/** How often the event loop is looked at; it is late by as much as a look comes after its time. */
const TICK_MS = 20
/** A burst that is over within this many looks is answered, however late. */
const PATIENCE_TICKS = 3
/** Admitted between two looks, whatever the delay: one slow request is not all there is. */
const MIN_QUOTA = 32
/** How fast more is let in again. */
const GROWTH = 1.25
/** Without requests nothing is looked at. */
const IDLE_TICKS = 50

export interface AdmissionOptions {
  /** Milliseconds that a turn of the event loop may take: a request waits for a few of them. */
  readonly maxDelayMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Calls `tick` again and again until the answer is called; late when the event loop is. */
  readonly every: (milliseconds: number, tick: () => void) => () => void
  /** Called when refusing begins, and when it has ended, with how many were refused. */
  readonly onChange: (isRefusing: boolean, refused: number) => void
  /** Told at every look, while there are requests, how many milliseconds behind the event loop was. */
  readonly onDelay: (delayMs: number) => void
}

/** Whether one more request may be worked on now. */
export type Admit = () => boolean

export function everyInterval(milliseconds: number, tick: () => void): () => void {
  const timer = setInterval(tick, milliseconds).unref()
  return () => clearInterval(timer)
}

/**
 * The quota of a turn follows what a turn could do in time: as many as were admitted in the last one, less in proportion to how
 * late it was, never fewer than a few, and slowly more while it is not.
 */
export function createAdmission({ maxDelayMs, now, every, onChange, onDelay }: AdmissionOptions): Admit {
  let quota = Number.POSITIVE_INFINITY
  let admitted = 0
  let refused = 0
  let lateTicks = 0
  let idleTicks = 0
  let lastTick = 0
  let stop: (() => void) | null = null

  function tick(): void {
    const delay = now() - lastTick - TICK_MS
    lastTick += delay + TICK_MS
    onDelay(Math.max(0, delay))
    lateTicks = delay > maxDelayMs ? lateTicks + 1 : 0
    if (lateTicks >= PATIENCE_TICKS) shrink(delay)
    else if (lateTicks === 0 && quota !== Number.POSITIVE_INFINITY) grow()
    idleTicks = admitted === 0 ? idleTicks + 1 : 0
    admitted = 0
    if (idleTicks > IDLE_TICKS) {
      stop?.()
      stop = null
    }
  }

  function shrink(delay: number): void {
    if (quota === Number.POSITIVE_INFINITY) onChange(true, 0)
    quota = Math.max(MIN_QUOTA, Math.floor((Math.min(quota, admitted) * maxDelayMs) / delay))
  }

  function grow(): void {
    // Nothing near it was asked for: there is nothing to limit.
    quota = admitted < quota / 2 ? Number.POSITIVE_INFINITY : quota * GROWTH
    if (quota !== Number.POSITIVE_INFINITY) return
    onChange(false, refused)
    refused = 0
  }

  return () => {
    if (stop === null) {
      lastTick = now()
      idleTicks = 0
      stop = every(TICK_MS, tick)
    }
    if (admitted >= quota) {
      refused += 1
      return false
    }
    admitted += 1
    return true
  }
}
