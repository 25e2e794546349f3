// Runs SQL by hand.
import { Client } from 'pg'

/** Returns the rows of one SQL text, run on a connection of its own, as in psql. */
export async function execute(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows ?? []
  } finally {
    await client.end()
  }
}
