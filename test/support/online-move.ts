// Options of an online move whose progress nobody follows.

export const ONLINE_MOVE = {
  maxPauseMs: 30_000,
  onProgress() {},
  onTracesLeft() {},
  onPhase() {},
  onCancelFailed() {},
  stop: new AbortController().signal,
}
