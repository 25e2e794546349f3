// Makes long runs, which start the program thousands of times, start the packed program:
// node --import ./test/support/start-packed.ts RUN
import { buildProgram } from './build-program.ts'

process.env.TEST_PROGRAM ??= await buildProgram()
