import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { configFileArguments } from './config-file.ts'
import { runtimeConfig } from './runtime-config.ts'
import { upFlags } from './up-command.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-config-'))
  file = join(folder, 'up.yaml')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const argumentsOf = async (yaml: string): Promise<string[]> => {
  await writeFile(file, yaml)
  return configFileArguments(['--config', file], upFlags)
}

describe('configFileArguments()', () => {
  test('turns fields into flags, which the command line overrides', async () => {
    const yaml = [
      'port: 1234',
      'memory: true',
      'authorization-mode: [Node, RBAC]',
      'feature-gates: { A: true, B: false }',
      'nodes: "2"',
    ].join('\n')
    const args = await argumentsOf(yaml)
    expect(args).toEqual([
      '--port=1234',
      '--memory=true',
      '--authorization-mode=Node,RBAC',
      '--feature-gates=A=true,B=false',
      '--nodes=2',
    ])
    const { values } = parseFlags(upFlags, [...args, '--config', file, '--port', '9'])
    expect(values).toMatchObject({ port: 9, memory: true, nodes: 2, 'authorization-mode': ['Node', 'RBAC'] })
  })

  test('needs no file without --config, and accepts an empty one', async () => {
    expect(await configFileArguments(['--port', '1'], upFlags)).toEqual([])
    expect(await argumentsOf('# nothing\n')).toEqual([])
  })

  test.each([
    ['bind-adress: 1.2.3.4', 'bind-adress: unknown field, did you mean bind-address?'],
    ['config: other.yaml', 'config: unknown field'],
    ['bind-address: localhost', 'bind-address: must be an IP address, not "localhost"'],
    ['port: -1', 'port: must be a number from 0 to 65535, not "-1"'],
    ['memory: maybe', 'memory: must be true or false, not "maybe"'],
    ['port: [[1]]', 'port: must be a text, a number, true, false, a list of them or a mapping to them'],
    ['[1]', 'must be a mapping of flags, such as "port: 6443"'],
  ])('names the file and the field of %j', async (yaml, message) => {
    await expect(argumentsOf(yaml)).rejects.toThrow(message)
    await expect(argumentsOf(yaml)).rejects.toThrow(file)
  })
})

describe('runtimeConfig()', () => {
  const serves = (text: string, ...resource: [string, string, string]): boolean => {
    const pairs = text.split(',').map((pair) => pair.split('=') as [string, string])
    return runtimeConfig(defaultRelease, new Map(pairs.map(([key, value]) => [key, value === 'true']))).serves(
      ...resource,
    )
  }

  test.each<[string, [string, string, string], boolean]>([
    ['batch/v1=false', ['batch', 'v1', 'jobs'], false],
    ['batch/v1=false', ['apps', 'v1', 'deployments'], true],
    ['batch/v1/cronjobs=false', ['batch', 'v1', 'cronjobs'], false],
    ['batch/v1/cronjobs=false', ['batch', 'v1', 'jobs'], true],
    ['api/all=false,apps/v1=true', ['apps', 'v1', 'deployments'], true],
    ['api/all=false', ['batch', 'v1', 'jobs'], false],
    ['api/all=false', ['', 'v1', 'pods'], true],
    ['api/ga=false', ['batch', 'v1', 'jobs'], false],
    ['api/beta=false', ['batch', 'v1', 'jobs'], true],
  ])('%s decides about %j', (text, resource, expected) => {
    expect(serves(text, ...resource)).toBe(expected)
  })

  test('refuses unknown groups and the core group, and warns about versions that are missing', () => {
    expect(() => runtimeConfig(defaultRelease, new Map([['nosuch/v1', true]]))).toThrow('unknown api groups nosuch/v1')
    expect(() => runtimeConfig(defaultRelease, new Map([['api/v1', false]]))).toThrow('v1 cannot be turned off')
    expect(runtimeConfig(defaultRelease, new Map([['batch/v2alpha1', true]])).warnings).toEqual([
      '--runtime-config batch/v2alpha1=true has no effect: this server does not have batch/v2alpha1',
    ])
  })
})
