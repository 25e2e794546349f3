// Runs Debian's Prometheus for tests: it scrapes a gateway, and promtool checks files and metrics.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PROMETHEUS = '/usr/bin/prometheus'
const PROMTOOL = '/usr/bin/promtool'

export const hasPrometheus = existsSync(PROMETHEUS) && existsSync(PROMTOOL)
if (!hasPrometheus) console.warn('skipped: tests with Prometheus (Debian: apt-get install prometheus)')

/** Runs promtool and returns its output, and whether it found nothing wrong. */
export function promtool(args: readonly string[], options: { readonly cwd?: string; readonly input?: string } = {}) {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { encoding: 'utf8', ...options })
  return { isClean: status === 0, said: stdout + stderr }
}

/** Starts a Prometheus that scrapes the target every 200 ms until the test ends. Returns a function that queries it. */
export async function scrape(target: string): Promise<(query: string) => Promise<readonly Sample[]>> {
  const directory = temporaryDirectory()
  const file = join(directory, 'prometheus.yml')
  const config = {
    scrape_configs: [
      {
        job_name: 'gateway',
        scrape_interval: '200ms',
        scrape_timeout: '200ms',
        static_configs: [{ targets: [target] }],
      },
    ],
  }
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config))
  const address = `127.0.0.1:${await freePort('127.0.0.1')}`
  const child = spawn(
    PROMETHEUS,
    [`--config.file=${file}`, `--storage.tsdb.path=${directory}`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  )
  onTestFinished(async () => {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await closed
  })
  return async (query) => {
    const url = `http://${address}/api/v1/query?query=${encodeURIComponent(query)}`
    const response = await fetch(url).catch(() => null)
    if (!response?.ok) return []
    const { data } = (await response.json()) as {
      data: { result: { metric: Sample['labels']; value: [number, string] }[] }
    }
    return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
  }
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
