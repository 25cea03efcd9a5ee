import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import * as apps from './generated/apps/v1.ts'
import * as autoscalingV1 from './generated/autoscaling/v1.ts'
import * as events from './generated/events/v1.ts'
import * as index from './index.ts'
import { defaultRelease } from './releases.ts'

describe('@kubewright/k8s', () => {
  test('Deployment() completes a draft with its API version and kind', () => {
    const draft = index.Deployment({ metadata: { name: 'web' }, spec: { selector: {}, template: {} } })
    expect(draft).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { selector: {}, template: {} },
    })
    expect(Object.keys(draft).slice(0, 2)).toEqual(['apiVersion', 'kind'])
  })

  test('has each kind once, in the preferred version of its group', () => {
    const exported = new Set<unknown>(Object.values(index))
    const preferred = new Map(defaultRelease.groups.map(({ group, versions }) => [group, versions[0]?.version]))
    for (const kind of defaultRelease.kinds) {
      const expected =
        kind.kind === 'Event' ? kind.group === '' : kind.plural === '' || kind.version === preferred.get(kind.group)
      expect(exported.has(kind), `${kind.apiVersion} ${kind.kind}`).toBe(expected)
    }
    for (const [name, kind] of Object.entries(index)) expect(kind.kind).toBe(name)
  })

  test('has the same values as the subpaths', () => {
    expect(apps.Deployment).toBe(index.Deployment)
    expect(events.Event).not.toBe(index.Event)
    expect(events.Event.apiVersion).toBe('events.k8s.io/v1')
    expect(autoscalingV1.HorizontalPodAutoscaler.apiVersion).toBe('autoscaling/v1')
    expect(index.HorizontalPodAutoscaler.apiVersion).toBe('autoscaling/v2')
  })
})

describe('loading', () => {
  const module = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`
  // Hooks run on a separate thread; only a synchronous write is guaranteed to arrive.
  const hook = module(`import { writeSync } from 'node:fs'
    export async function load(url, context, next) {
      writeSync(2, url + '\\n')
      return next(url, context)
    }`)
  const report = module(`import { register } from 'node:module'; register(${JSON.stringify(hook)})`)

  /** Returns the source modules that a new process loads for an entry, relative to this folder or to the packages. */
  function loadedBy(entry: string): string[] {
    const url = new URL(entry, import.meta.url).href
    const args = [
      '--conditions=kubewright-source',
      '--import',
      'tsx',
      '--import',
      report,
      '--input-type=module',
      '-e',
      `await import('${url}')`,
    ]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const here = new URL('.', import.meta.url).href
    const packages = new URL('../../', import.meta.url).href
    const modules = stderr.split('\n').filter((line) => line.startsWith(packages))
    return modules.map((line) => line.replace(/\?.*$/, '').replace(here, '').replace(packages, '')).sort()
  }
  const shared = [
    'api/src/kind.ts',
    'api/src/own-property.ts',
    'builtin-kind.ts',
    'generated/kinds.ts',
    'generated/tables.ts',
    'internal/definition-name.ts',
    'internal/line-table.ts',
    'internal/opaque-schemas.ts',
    'internal/resolve-schema.ts',
    'internal/schema-notation.ts',
    'internal/schema-table.ts',
  ]

  test('the index loads neither the subpaths nor discovery facts nor the rest of the api package', () => {
    expect(loadedBy('./index.ts')).toEqual([...shared, 'index.ts'].sort())
  })

  test('a subpath loads no other subpath', () => {
    expect(loadedBy('./generated/apps/v1.ts')).toEqual([...shared, 'generated/apps/v1.ts'].sort())
  })
})
