// Before each test file.
import { searchLogsAtEnd } from './searched-logs.ts'

// An operator's own settings: tests would serve, and write to, the database that they name.
for (const name of Object.keys(process.env)) if (name.startsWith('WORKSPACE_GATEWAY_')) delete process.env[name]

searchLogsAtEnd()
