// Reads what a receiver says about a batch that it accepted only in part (OTLP, "Partial Success").
import { isJsonMediaType } from '../../media-type.ts'
import { memberOf } from '../../member-of.ts'
import { readResponse } from './otlp.ts'

/** The body of a response with status 200. */
export interface ReceiverAnswer {
  readonly contentType: string | undefined
  readonly body: Buffer
}

export interface PartialSuccess {
  /** 0 for a receiver that only warns. */
  readonly rejectedSpans: number
  readonly message: string
}

/** Returns null when everything was accepted without a remark, and for an answer that is no message of OTLP. */
export function readPartialSuccess({ contentType, body }: ReceiverAnswer): PartialSuccess | null {
  const said = memberOf(readAnswer(contentType, body), 'partialSuccess')
  const [rejected, message] = [memberOf(said, 'rejectedSpans'), memberOf(said, 'errorMessage')]
  // A 64-bit integer is a string in JSON, or a number.
  const rejectedSpans = Number(rejected) > 0 ? Number(rejected) : 0
  if (rejectedSpans === 0 && !message) return null
  return { rejectedSpans, message: typeof message === 'string' ? message : '' }
}

function readAnswer(contentType: string | undefined, body: Buffer): unknown {
  try {
    return isJsonMediaType(contentType) ? JSON.parse(String(body)) : readResponse(body)
  } catch {
    return null
  }
}
