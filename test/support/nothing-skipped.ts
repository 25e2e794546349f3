// What `.ci/run` reports with: there a test that is skipped is a failure, and so is a part of one that says it is.
import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

export class NothingSkipped implements Reporter {
  readonly #skipped = new Set<string>()

  onUserConsoleLog({ content }: UserConsoleLog): void {
    for (const line of content.split('\n')) if (line.startsWith('skipped: ')) this.#skipped.add(line)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        this.#skipped.add(`skipped: ${module.relativeModuleId} > ${test.fullName}`)
      }
    }
    if (this.#skipped.size === 0) return
    console.error(`\nNothing may be skipped here (TEST_NOTHING_SKIPPED):\n${[...this.#skipped].join('\n')}`)
    process.exitCode = 1
  }
}
