// The lower bound of a large answer: node:http that pipes the file named by FILE.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from './listening.ts'

const file = process.env.FILE ?? ''
const { size } = statSync(file)
const port = Number(process.env.PORT)

createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': size })
  createReadStream(file).pipe(response)
}).listen(port, '127.0.0.1', () => listening(port))
