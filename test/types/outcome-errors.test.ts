// Messages of the compiler for wrong outcomes: they are short and name the field. Editors complete the right fields.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { languageService } from './language-service.ts'

const root = join(import.meta.dirname, '../..')

const preamble = `import { condition, defineController, defineResource, s } from 'kubewright'
import { Job } from 'kubewright/k8s'
declare function work(): Promise<number>
const Redis = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Redis',
  spec: s.object({ size: s.int(), every: s.duration().default('1m') }),
  status: s.object({
    ready: s.int().optional(),
    phase: s.enum(['Up', 'Down']).optional(),
    master: s.object({ host: s.string(), port: s.int() }).optional(),
    conditions: s.conditions('Ready', 'Synced').optional(),
  }),
})
`

/** A reconciler with the statements, async. */
const reconciler = (body: string) => `defineController(Redis, { async reconcile({ spec }) { await work(); ${body} } })`

// Each program is one line. The text is part of the message.
const wrong: readonly (readonly [about: string, program: string, text: string])[] = [
  ['an unknown field', `defineController(Redis, { reconcile: () => ({ status: { redy: 1 } }) })`, 'redy'],
  [
    'in an async arrow function',
    `defineController(Redis, { reconcile: async () => ({ status: { redy: 1 } }) })`,
    'redy',
  ],
  [
    'in an async method',
    reconciler('return { status: { redy: spec.size } }'),
    "'status.redy' is not a field of 'status'",
  ],
  ['beside a known one', reconciler('return { status: { ready: 1, redy: 1 } }'), "'status.redy' is not a field"],
  [
    'in one of two results',
    reconciler('if (spec.size) return { status: { ready: 1 } }; return { status: { redy: 1 } }'),
    'redy',
  ],
  ['after an early return', reconciler('if (spec.size) return; return { status: { redy: 1 } }'), "'status.redy'"],
  ['in a variable', reconciler('const status = { redy: 1 }; return { status }'), "'status.redy' is not a field"],
  [
    'in a nested object',
    reconciler(`return { status: { master: { host: '', port: 1, prt: 1 } } }`),
    "'status.master.prt'",
  ],
  ['a missing field', reconciler(`return { status: { master: { host: '' } } }`), "'status.master.port' is missing"],
  ['a wrong type', reconciler(`return { status: { ready: 'x' } }`), '\'status.ready\' is \\"x\\", not a number'],
  [
    'a wrong value',
    reconciler(`return { status: { phase: 'up' } }`),
    '\'status.phase\' is \\"up\\", not one of its values',
  ],
  [
    'a wrong value in a variable',
    reconciler(`const phase = spec.size ? 'Up' : 'down'; return { status: { phase } }`),
    'down',
  ],
  [
    'an object for a number',
    reconciler('return { status: { ready: {} } }'),
    "'status.ready' is an object, not a number",
  ],
  [
    'an unknown field of the outcome',
    reconciler(`return { requeueafter: '1m' }`),
    "'requeueafter' is not a field of an outcome",
  ],
  ['a wrong requeueAfter', reconciler('return { requeueAfter: true }'), "'requeueAfter' is a boolean, not a duration"],
  ['a wrong duration', reconciler(`return { requeueAfter: 'soon' }`), '\'requeueAfter\' is \\"soon\\", not a duration'],
  ['an undeclared condition', reconciler(`return { status: { conditions: [condition('Redy', true, 'X')] } }`), 'Redy'],
  [
    'a wrong condition',
    reconciler(`return { status: { conditions: [{ type: 'Ready', status: true }] } }`),
    "'status.conditions[].status'",
  ],
  ['a wrong merged status', reconciler(`return { mergeStatus: { phase: 'up' } }`), "'mergeStatus.phase'"],
  [
    'mergeStatus',
    `defineController(Redis, { async reconcile(_, { mergeStatus }) { await mergeStatus({ phase: 'up' }) } })`,
    '"up"',
  ],
  [
    'cleanup',
    `defineController(Redis, { async reconcile() {}, async cleanup() { return { status: { redy: 1 } } } })`,
    "cleanup: 'status.redy'",
  ],
  [
    'onError',
    `defineController(Redis, { async reconcile() {}, onError: () => ({ mergeStatus: { redy: 1 } }) })`,
    "onError: 'mergeStatus.redy'",
  ],
  [
    'a whole status of onError',
    `defineController(Redis, { async reconcile() {}, onError: () => ({ status: { ready: 1 } }) })`,
    "onError: 'status' is not a field",
  ],
  [
    'a conditional result',
    `defineController(Redis, { reconcile: async ({ spec }) => (spec.size ? { status: { ready: 'x' } } : { requeueAfter: '5s' }) })`,
    "'status.ready'",
  ],
  [
    'a built-in kind',
    `defineController(Job, { async reconcile() { return { status: { activ: 1 } } } })`,
    "'status.activ' is not a field",
  ],
]

const right: readonly string[] = [
  'defineController(Redis, { reconcile: () => undefined })',
  'defineController(Redis, { reconcile: () => { throw new Error() } })',
  'defineController(Redis, { async reconcile() {} })',
  `defineController(Redis, { reconcile: async ({ status }) => ({ status: { ...status, phase: 'Up' }, requeueAfter: '1h30m' }) })`,
  reconciler(
    `if (spec.size) return; if (spec.every) return { requeueAfter: spec.every }; return { status: { phase: 'Up', master: undefined } }`,
  ),
  reconciler(
    `return { status: { conditions: [condition('Ready', true, 'X'), condition('Synced', spec.size > 1, 'X')] } }`,
  ),
  reconciler(`return { mergeStatus: { master: { port: 1 } }, prune: false }`),
  `defineController(Job, { async reconcile({ status }) { return { status: { ...status, active: 1 } } } })`,
]

let folder: string
let messages: Map<number, string[]>
const first = preamble.split('\n').length

beforeAll(async () => {
  // Below the repository, so that the program finds the packages.
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'kubewright-types-'))
  const programs = [...wrong.map(([, program]) => program), ...right]
  writeFileSync(join(folder, 'programs.ts'), preamble + programs.join('\n'))
  const compilerOptions = { customConditions: ['kubewright-source'], allowImportingTsExtensions: true, noEmit: true }
  const config = { extends: join(root, 'tsconfig.test.json'), compilerOptions, include: ['programs.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const args = [join(root, 'node_modules/ts7/bin/tsc'), '-p', folder, '--noErrorTruncation', '--pretty', 'false']
  const out = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_, text, error) => resolve(text + error))
  })
  messages = messagesByLine(out)
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The lines of all messages about a line of the program. */
function messagesByLine(out: string): Map<number, string[]> {
  const found = new Map<number, string[]>()
  let current: string[] = []
  for (const line of out.split('\n').filter((text) => text !== '')) {
    const at = /^\S+\((\d+),\d+\): error/.exec(line)
    if (at) {
      current = found.get(Number(at[1])) ?? []
      found.set(Number(at[1]), current)
    }
    current.push(line)
  }
  return found
}

describe('a type error in an outcome', () => {
  test.each(wrong.map(([about, , text], index) => [about, text, index] as const))(
    'names the field in at most three lines: %s',
    (_, text, index) => {
      const lines = messages.get(first + index) ?? []
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.length).toBeLessThanOrEqual(3)
      expect(lines.join('\n')).toContain(text)
    },
  )

  test.each(right.map((program, index) => [program, index] as const))('does not occur in %s', (_, index) => {
    expect(messages.get(first + wrong.length + index)).toBeUndefined()
  })
})

describe('an editor', () => {
  test('completes the fields and values of an outcome', { timeout: 300_000 }, () => {
    const source = `${preamble}${reconciler(`return { status: { phase: '|' } }`)}\n${reconciler('return { status: { | } }')}`
    const [before = '', middle = '', after = ''] = source.split('|')
    const file = join(import.meta.dirname, 'outcome.editor.ts')
    const service = languageService(file, before + middle + after)
    const names = (position: number) =>
      service.getCompletionsAtPosition(file, position, {})?.entries.map(({ name }) => name) ?? []
    expect(names(before.length)).toEqual(expect.arrayContaining(['Up', 'Down']))
    expect(names(before.length + middle.length)).toEqual(expect.arrayContaining(['ready', 'master', 'conditions']))
  })
})
