import { describe, expect, test } from 'vitest'
import { errorLines } from './error-lines.ts'

function errorAt(message: string, ...frames: string[]): Error {
  const error = new TypeError(message)
  error.stack = [`TypeError: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  return error
}

describe('errorLines()', () => {
  test('shows frames of the project with relative paths', () => {
    const error = errorAt('no', 'f (file:///project/src/a.ts:1:2)', 'g (/other/node_modules/x.js:3:4)')
    expect(errorLines(error, '/project')).toEqual(['TypeError: no', '  at f (src/a.ts:1:2)'])
  })

  test('shows causes, and the frames of the innermost one', () => {
    const cause = errorAt('inner', 'f (/project/src/inner.ts:1:2)')
    const error = Object.assign(errorAt('outer', 'g (/project/src/outer.ts:1:2)'), { cause })
    expect(errorLines(error, '/project')).toEqual([
      'TypeError: outer',
      'caused by TypeError: inner',
      '  at f (src/inner.ts:1:2)',
    ])
  })

  test('shows other frames if there are none of the project', () => {
    const error = errorAt('no', 'g (/other/node_modules/x.js:3:4)')
    expect(errorLines(error, '/project')).toEqual(['TypeError: no', '  at g (/other/node_modules/x.js:3:4)'])
  })

  test('omits the frames of a compiler error, whose message names the place', () => {
    const error = errorAt('failed:\n/project/a.ts:18:0: ERROR: no', 'g (/other/node_modules/esbuild.js:3:4)')
    expect(errorLines(error, '/project')).toEqual(['TypeError: failed:', '/project/a.ts:18:0: ERROR: no'])
  })

  test('omits the frames of Node for a missing module', () => {
    const error = errorAt(
      'Cannot find module x imported from /project/a.ts',
      'g (node:internal/x:3:4)',
      'h (/other/y.js:1:1)',
    )
    expect(errorLines(error, '/project')).toEqual(['TypeError: Cannot find module x imported from /project/a.ts'])
  })

  test('shows thrown values that are not errors', () => expect(errorLines('thrown', '/project')).toEqual(['thrown']))
})
