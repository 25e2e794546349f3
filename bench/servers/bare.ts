// The floor: node:http that sends the same bytes and does nothing else. BODY names the file with the bytes.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from './peer-data.ts'

const body = readFileSync(process.env.BODY ?? '')
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.byteLength }
const port = Number(process.env.PORT)

createServer((request, response) => {
  const answer = () => response.writeHead(200, headers).end(body)
  if (request.method === 'GET') answer()
  else request.on('data', () => {}).on('end', answer)
}).listen(port, '127.0.0.1', () => listening(port))
