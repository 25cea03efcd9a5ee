import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorMessages } from './error-messages.ts'

function messagesIn(source: string): Record<string, readonly string[]> {
  const root = mkdtempSync(join(tmpdir(), 'kubewright-messages-'))
  try {
    mkdirSync(join(root, 'packages/a/src'), { recursive: true })
    writeFileSync(join(root, 'packages/a/src/a.ts'), source)
    return Object.fromEntries(errorMessages(root))
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('errorMessages() replaces the variable parts of a template', () => {
  expect(messagesIn(`throw new KubewrightError('KW_A', \`Cannot open \${file}: it is \${why()}\`)`)).toEqual({
    KW_A: ['Cannot open …: it is …'],
  })
})

test('errorMessages() follows constants and both branches of a condition', () => {
  const source = `
    function f(n: number) {
      const reason = n > 1 ? 'too many of them' : 'too few of them'
      throw new KubewrightError('KW_A', reason)
    }`
  expect(messagesIn(source)).toEqual({ KW_A: ['too few of them', 'too many of them'] })
})

test('errorMessages() finds the messages of classes that have a code', () => {
  const source = `
    class FileError extends KubewrightError {
      constructor(file: string, message: string) { super('KW_FILE', message) }
    }
    throw new FileError('a', 'the file is gone')`
  expect(messagesIn(source)).toEqual({ KW_FILE: ['the file is gone'] })
})

test('errorMessages() leaves out texts without words', () => {
  expect(messagesIn(`throw new KubewrightError('KW_A', \`\${name}: \${reason}\`)`)).toEqual({ KW_A: [] })
})
