import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const pretend = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`

describe.each([
  ['kubewright', '../packages/cli/bin/kubewright.js'],
  ['kubewright', '../packages/kubewright/bin/kubewright.js'],
  ['create-kubewright', '../packages/create-kubewright/bin/create-kubewright.js'],
])('%s (%s)', (name, file) => {
  test.each(['18.20.4', '20.18.3'])('names the required version on Node %s, before it loads anything', (version) => {
    const program = fileURLToPath(new URL(file, import.meta.url))
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend(version), program, '--version'])
    expect([status, `${stdout}`, `${stderr}`]).toEqual([
      1,
      '',
      `${name} requires Node 20.19 or later, but this is Node ${version}: see https://nodejs.org\n`,
    ])
  })
})
