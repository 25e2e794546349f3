// Writes the coverage of every test worker when NODE_V8_COVERAGE is set: workers end too abruptly to write it by themselves.
import { takeCoverage } from 'node:v8'
import { afterAll } from 'vitest'

afterAll(() => takeCoverage())
