// Runs before each test file.
import { searchLogsAtEnd } from './searched-logs.ts'

// Settings of an operator would make tests serve, and write to, the database that they name.
for (const name of Object.keys(process.env)) if (name.startsWith('WORKSPACE_GATEWAY_')) delete process.env[name]

searchLogsAtEnd()
