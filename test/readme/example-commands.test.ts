// What the READMEs of the examples tell people to type works in a clone where nothing was built.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const readmes = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `examples/${name}/README.md`)

test.each(readmes)('%s names scripts and files that there are', (path) => {
  const text = readFileSync(join(root, path), 'utf8')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const commands = [...text.matchAll(/npm run (?:-s )?([\w-]+) -- (?:(?:dev|run|generate) )?(examples\/\S+\.ts)?/g)]
  expect(commands).not.toHaveLength(0)
  for (const [, script = '', file] of commands) {
    expect(Object.keys(scripts)).toContain(script)
    if (file !== undefined) expect(existsSync(join(root, file)), file).toBe(true)
  }
  // Without the condition of the script it would need what a build makes.
  expect(text).not.toMatch(/node --import tsx/)
})

test('npm run example runs an example', { timeout: 60_000 }, async () => {
  const output = await new Promise<string>((resolve, reject) => {
    const args = ['run', '-s', 'example', '--', 'examples/list-pods/src/main.ts']
    execFile('npm', args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } }, (error, stdout) => {
      if (error) reject(error)
      else resolve(stdout)
    })
  })
  expect(output).toContain('default/web-0')
})
