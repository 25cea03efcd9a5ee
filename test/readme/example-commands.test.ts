// The commands in the READMEs of the examples work in a fresh clone without a build.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const readmes = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `examples/${name}/README.md`)

test.each(readmes)('%s refers only to existing scripts and files', (path) => {
  const text = readFileSync(join(root, path), 'utf8')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const commands = [...text.matchAll(/npm run (?:-s )?([\w-]+) -- (?:(?:dev|run|generate) )?(examples\/\S+\.ts)?/g)]
  expect(commands).not.toHaveLength(0)
  for (const [, script = '', file] of commands) {
    expect(Object.keys(scripts)).toContain(script)
    if (file !== undefined) expect(existsSync(join(root, file)), file).toBe(true)
  }
  // A plain `node --import tsx` lacks the condition of the script and would need a build.
  expect(text).not.toMatch(/node --import tsx/)
})

test('npm run example runs an example', async () => {
  const output = await new Promise<string>((resolve, reject) => {
    const args = ['run', '-s', 'example', '--', 'examples/list-pods/src/main.ts']
    execFile('npm', args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } }, (error, stdout) => {
      if (error) reject(error)
      else resolve(stdout)
    })
  })
  expect(output).toContain('default/web-0')
})
