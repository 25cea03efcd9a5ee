import { transformSync } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addApi } from './add-api.ts'
import { addWebhook } from './add-webhook.ts'
import { editProject } from './edit-project.ts'
import { initProject } from './init-project.ts'
import { planFiles } from './plan-files.ts'
import type { Project } from './project.ts'
import { scaffoldOf, textOf } from './scaffold-of.ts'

const empty = initProject({ domain: 'my.domain', projectName: 'homes' })

type Step = (project: Project) => Project

const api =
  (kind: string, version: string): Step =>
  (project) =>
    addApi(project, { group: 'ajd', version, kind }, [])
const webhook =
  (kind: string, version: string, what: object): Step =>
  (project) =>
    addWebhook(project, { group: 'ajd', version, kind, ...what }, [])

const steps: readonly Step[] = [
  api('Home', 'v1'),
  api('Home', 'v2'),
  api('Home', 'v3'),
  api('Lamp', 'v1'),
  webhook('Home', 'v1', { defaulting: true }),
  webhook('Home', 'v1', { validation: true }),
  webhook('Home', 'v1', { conversion: true }),
  webhook('Home', 'v2', { conversion: true, force: true }),
  webhook('Lamp', 'v1', { defaulting: true, validation: true }),
  (project) => editProject(project, { owner: 'Somebody' }),
  (project) => editProject(project, { license: 'none' }),
]

/** A folder in memory to which the steps are applied like commands. */
class Folder {
  readonly files = new Map<string, string>()
  project: Project | undefined

  take(next: Project): void {
    const old = this.project && scaffoldOf(this.project)
    const plan = planFiles({ old, next: scaffoldOf(next), read: (path) => this.files.get(path) })
    for (const { path, action, after } of plan) {
      if (after !== undefined) this.files.set(action === 'offer' ? `${path}.new` : path, after)
    }
    this.project = next
  }

  /** Applies a step, unless it is impossible now. */
  tryStep(step: Step): void {
    let next: Project
    try {
      next = step(this.project!)
    } catch {
      return
    }
    this.take(next)
  }
}

const orders = fc.shuffledSubarray([...steps.keys()])

describe('planFiles()', () => {
  test('reaches the same files by any sequence of steps to the same project', () => {
    fc.assert(
      fc.property(orders, (order) => {
        const folder = new Folder()
        folder.take(empty)
        for (const index of order) folder.tryStep(steps[index]!)
        const scaffold = [...scaffoldOf(folder.project!)].map(([path, file]) => [path, textOf(file)] as const)
        expect(Object.fromEntries(folder.files)).toEqual(Object.fromEntries(scaffold))
      }),
      { numRuns: 60 },
    )
  })

  test('keeps every line of the user, and produces valid TypeScript', () => {
    const places = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: steps.length, maxLength: steps.length })
    fc.assert(
      fc.property(orders, places, (order, edits) => {
        const folder = new Folder()
        folder.take(empty)
        const written: [path: string, line: string][] = []
        for (const [turn, index] of order.entries()) {
          const [file, place] = edits[turn]!
          const paths = [...folder.files.keys()].filter((path) => path.endsWith('.ts'))
          const path = paths[file % paths.length]!
          const lines = folder.files.get(path)!.split('\n')
          const line = `// mine ${turn}`
          lines.splice(place % lines.length, 0, line)
          folder.files.set(path, lines.join('\n'))
          written.push([path, line])
          folder.tryStep(steps[index]!)
          for (const [where, what] of written) expect(folder.files.get(where)).toContain(what)
        }
        for (const [path, text] of folder.files) if (path.endsWith('.ts')) transformSync(text, { loader: 'ts' })
      }),
      { numRuns: 300 },
    )
  })
})
