import { describe, expect, test } from 'vitest'
import {
  changesOf,
  inPublishOrder,
  releasedChangelog,
  versionProblems,
  withVersion,
} from '../tools/release/one-version.ts'

const base = { name: '@kubewright/base', version: '0.1.0' }
const cli = {
  name: '@kubewright/cli',
  version: '0.1.0',
  dependencies: { '@kubewright/base': '0.1.0', tsx: '4.0.0' },
}
const create = { name: 'create-kubewright', version: '0.1.0', dependencies: { '@kubewright/cli': '0.1.0' } }

describe('the release tool', () => {
  test('sets one version in a package and in its dependencies of this repository', () => {
    expect(withVersion(cli, '0.2.0')).toEqual({
      name: '@kubewright/cli',
      version: '0.2.0',
      dependencies: { '@kubewright/base': '0.2.0', tsx: '4.0.0' },
    })
  })

  test('reports packages that do not share the version', () => {
    expect(versionProblems([base, cli], '0.1.0')).toEqual([])
    expect(versionProblems([base, withVersion(cli, '0.2.0')], '0.1.0')).toEqual([
      '@kubewright/cli has version 0.2.0, not 0.1.0',
      '@kubewright/cli needs @kubewright/base 0.2.0, not 0.1.0',
    ])
  })

  test('publishes dependencies first', () => {
    expect(inPublishOrder([create, cli, base])).toEqual([base, cli, create])
  })

  test('dates the section of the changelog, and finds its text', () => {
    const text = '# Changelog\n\n## 0.2.0 (unreleased)\n\n- A\n\n## 0.1.0 (2026-01-01)\n\n- B\n'
    const released = releasedChangelog(text, '0.2.0', '2026-02-03')
    expect(released).toContain('## 0.2.0 (2026-02-03)\n')
    expect(changesOf(released, '0.2.0')).toBe('- A')
    expect(() => releasedChangelog(released, '0.3.0', '2026-02-03')).toThrow('has no section')
  })
})
