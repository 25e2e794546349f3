// The reporter of `.ci/run`. There a skipped test is a failure, and so is a test that prints that it skipped a part of itself. Into
// the file that TEST_FAILED_FILES names the reporter writes the test files that failed, one a line, for a second try; nothing if
// that cannot help.
import { writeFileSync } from 'node:fs'
import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** More files than these do not fail because the machine was busy for a moment. */
const MAX_FAILED_FILES = 5

export class CiReporter implements Reporter {
  readonly #skipped = new Set<string>()

  onUserConsoleLog({ content }: UserConsoleLog): void {
    for (const line of content.split('\n')) if (line.startsWith('skipped: ')) this.#skipped.add(line)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const failed = modules.filter((module) => module.state() === 'failed').map((module) => module.moduleId)
    for (const module of modules) {
      // Where a hook failed, its tests did not run: that is told as a failure already.
      const isFailed = failed.includes(module.moduleId)
      for (const test of module.children.allTests()) {
        if (test.result().state !== 'skipped' || isFailed) continue
        this.#skipped.add(`skipped: ${module.relativeModuleId} > ${test.fullName}`)
      }
    }
    const isWorthASecondTry = this.#skipped.size === 0 && unhandled.length === 0 && failed.length <= MAX_FAILED_FILES
    const list = process.env.TEST_FAILED_FILES
    if (list !== undefined) writeFileSync(list, isWorthASecondTry ? failed.map((file) => `${file}\n`).join('') : '')
    if (this.#skipped.size === 0) return
    console.error(`\nNothing may be skipped here (TEST_NOTHING_SKIPPED):\n${[...this.#skipped].join('\n')}`)
    process.exitCode = 1
  }
}
