// The floor: node:http that sends the same bytes and does nothing else. ANSWER names a file with status, headers and body.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from './listening.ts'
import type { SampleAnswer } from './start.ts'

const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER ?? '', 'utf8')) as SampleAnswer
const bytes = Buffer.from(body)
const sent = status === 304 ? headers : { ...headers, 'content-length': bytes.byteLength }
const port = Number(process.env.PORT)

createServer((request, response) => {
  const answer = () => response.writeHead(status, sent).end(bytes)
  if (request.method === 'GET') answer()
  else request.on('data', () => {}).on('end', answer)
}).listen(port, '127.0.0.1', () => listening(port))
