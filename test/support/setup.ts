// Before each test file.
import { searchLogsAtEnd } from './searched-logs.ts'

searchLogsAtEnd()
