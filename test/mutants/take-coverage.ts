// Run in every worker of the tests when NODE_V8_COVERAGE is set: workers are ended too abruptly to write it by themselves.
import { takeCoverage } from 'node:v8'
import { afterAll } from 'vitest'

afterAll(() => takeCoverage())
