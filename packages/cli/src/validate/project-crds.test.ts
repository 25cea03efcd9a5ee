import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { documentsOf } from '../input/read-manifests.ts'
import { projectCrds } from './project-crds.ts'

const crd = (kind: string): string => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${kind.toLowerCase()}s.example.com }
spec:
  group: example.com
  names: { kind: ${kind}, plural: ${kind.toLowerCase()}s }
  conversion: { strategy: Webhook }
  versions: []
`
const home = documentsOf('apiVersion: example.com/v1\nkind: Home\nmetadata: { name: a }\n', 'home.yaml')

describe('projectCrds()', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubewright-crds-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('returns the generated CRDs of the kinds among the documents, without conversion webhooks', async () => {
    expect(await projectCrds(folder, home)).toEqual([])
    const bases = join(folder, 'config/crd/bases')
    mkdirSync(bases, { recursive: true })
    writeFileSync(join(bases, 'homes.yaml'), crd('Home'))
    writeFileSync(join(bases, 'others.yaml'), crd('Other'))
    const found = await projectCrds(folder, home)
    expect(found.map(({ value }) => value)).toMatchObject([{ metadata: { name: 'homes.example.com' } }])
    expect(found[0]!.text).not.toContain('conversion')
    expect(await projectCrds(folder, home, documentsOf(crd('Home'), 'given.yaml'))).toEqual([])
  })
})
