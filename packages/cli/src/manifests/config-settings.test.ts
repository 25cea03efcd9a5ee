import { parseYaml } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { configFiles } from './config-files.ts'
import { withSettings } from './config-settings.ts'
import { describeOperator } from './operator-description.ts'

const files = configFiles(describeOperator(defineOperator({ name: 'home', controllers: [] })))
const changed = (path: string): string => `${files.get(path)!.text}# mine\n`

describe('withSettings()', () => {
  test('sets the image in a kustomization that the user changed', () => {
    const path = 'config/manager/kustomization.yaml'
    const images = (image: string, text = changed(path)) =>
      (parseYaml(withSettings(path, text, { image })) as { images: object[] }).images
    expect(images('a.b:5000/home:1.10')).toEqual([{ name: 'controller', newName: 'a.b:5000/home', newTag: '1.10' }])
    const digest = `sha256:${'a'.repeat(64)}`
    expect(images(`home@${digest}`)).toEqual([{ name: 'controller', newName: 'home', digest }])
    const other = changed(path).replace('images:\n', 'images:\n- name: other\n  newName: x\n')
    expect(images('home:1', other)).toEqual([
      { name: 'other', newName: 'x' },
      { name: 'controller', newName: 'home', newTag: '1' },
    ])
    expect(withSettings(path, changed(path), { image: 'home:1' })).toMatch(/# mine\n$/)
  })

  test('sets the namespace and the components', () => {
    const path = 'config/default/kustomization.yaml'
    const on = withSettings(path, changed(path), { namespace: 'there', prometheus: true })
    expect(parseYaml(on)).toMatchObject({ namespace: 'there', components: ['../prometheus'] })
    const both = withSettings(path, on, { 'network-policy': true, prometheus: false })
    expect(parseYaml(both)).toMatchObject({ components: ['../network-policy'] })
    expect(withSettings(path, changed(path), {})).toBe(changed(path))
    expect(withSettings('config/rbac/role.yaml', 'a', { image: 'b' })).toBe('a')
  })
})
