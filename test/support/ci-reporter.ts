// The reporter of `.ci/run`. There a skipped test is a failure, and so is a test that prints that it skipped a part of itself. The
// reporter also names each test that failed and then passed: such a test, or what it tests, depends on chance.
import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

export class CiReporter implements Reporter {
  readonly #skipped = new Set<string>()

  onUserConsoleLog({ content }: UserConsoleLog): void {
    for (const line of content.split('\n')) if (line.startsWith('skipped: ')) this.#skipped.add(line)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const unsteady: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const name = `${module.relativeModuleId} > ${test.fullName}`
        if (test.result().state === 'skipped') this.#skipped.add(`skipped: ${name}`)
        if (test.diagnostic()?.flaky) unsteady.push(`${name}\n  ${test.result().errors?.[0]?.message ?? ''}`)
      }
    }
    if (unsteady.length > 0) console.error(`\nPassed at the second try only:\n${unsteady.join('\n')}`)
    if (this.#skipped.size === 0) return
    console.error(`\nNothing may be skipped here (TEST_NOTHING_SKIPPED):\n${[...this.#skipped].join('\n')}`)
    process.exitCode = 1
  }
}
