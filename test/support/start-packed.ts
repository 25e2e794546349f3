// Preloaded by long runs that start the program thousands of times: node --import ./test/support/start-packed.ts RUN
import { buildProgram } from './build-program.ts'

process.env.TEST_PROGRAM ??= await buildProgram()
