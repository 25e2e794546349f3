// The lower bound: node:http that only sends fixed bytes. The variable ANSWER names a file with status, headers and
// body.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from './listening.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body in base64. */
  readonly bytes: string
}

const answer: Answer = JSON.parse(readFileSync(process.env.ANSWER ?? '', 'utf8'))
const { status, headers } = answer
const bytes = Buffer.from(answer.bytes, 'base64')
const sent = status === 304 ? headers : { ...headers, 'content-length': bytes.byteLength }
const port = Number(process.env.PORT)

createServer((request, response) => {
  const respond = () => response.writeHead(status, sent).end(bytes)
  if (request.method === 'GET') respond()
  else request.on('data', () => {}).on('end', respond)
}).listen(port, '127.0.0.1', () => listening(port))
