// docs/reference/json-output.md shows the fields that commands print.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../packages/cli/src/run-command.ts'
import { temporaryProject } from './scaffold/temporary-project.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/reference/json-output.md'), 'utf8')

/** The example of a section. */
function exampleOf(heading: string): unknown {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  return JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(section ?? '')?.[1] ?? 'null')
}

/** The names of all fields, at any depth. Of lists the first item alone is looked at. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : fieldsOf(value[0], `${path}[]`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, of]) => [`${path}.${name}`, ...fieldsOf(of, `${path}.${name}`)])
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-json-'))
  writeFileSync(join(folder, 'old.yaml'), crd(63))
  writeFileSync(join(folder, 'new.yaml'), crd(10))
  const home = 'apiVersion: ajd.my.domain/v1\nkind: Home\nmetadata: { name: cosy }\nspec: { foo: elevenlongs }\n'
  writeFileSync(join(folder, 'home.yaml'), home)
})
afterAll(() => rmSync(folder, { recursive: true }))

const crd = (maxLength: number): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: homes.ajd.my.domain }
spec:
  group: ajd.my.domain
  scope: Namespaced
  names: { kind: Home, plural: homes }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: { type: object, properties: { foo: { type: string, maxLength: ${maxLength} } } }
`

async function printed(...args: string[]): Promise<unknown> {
  const out: string[] = []
  const notes: string[] = []
  await runCommand([...args, '--output', 'json'], {
    out: (line: string) => void out.push(line),
    note: (line: string) => void notes.push(line),
    env: {},
    clock: systemClock,
    startedAt: 0,
    signal: new AbortController().signal,
  })
  if (out.length === 0) throw new Error(notes.join('\n'))
  return JSON.parse(out.join('\n'))
}

test.each([
  ['crd diff', ['crd', 'diff', 'old.yaml', 'new.yaml'], []],
  [
    'validate',
    ['validate', 'home.yaml', '--crd', 'new.yaml'],
    ['.results[].filled[].path', '.results[].filled[].value'],
  ],
  ['import', ['import', 'new.yaml', '--dry-run'], ['.failures[].name', '.failures[].reason']],
])('%s', async (heading, args, sometimes) => {
  const isFile = (arg: string): boolean => arg.endsWith('.yaml')
  const value = await printed(...args.map((arg) => (isFile(arg) ? join(folder, arg) : arg)))
  const documented = fieldsOf(exampleOf(heading)).filter((field) => !sometimes.includes(field as never))
  expect(fieldsOf(value).sort()).toEqual(documented.sort())
})

test('init', async () => {
  using project = temporaryProject()
  const { out } = await project.kubewright('init', '--yes', '--dry-run', '--output', 'json')
  const documented = fieldsOf(exampleOf('init, create api, create webhook, edit'))
  expect(fieldsOf(JSON.parse(out))).toEqual(documented.filter((field) => !field.endsWith('.hints')))
})
