import { describe, expect, it } from 'vitest'
import { parseFlags } from './parse-flags.ts'
import { UsageError } from './usage-error.ts'

describe('parseFlags()', () => {
  const parse = (...args: string[]): unknown =>
    parseFlags({
      args,
      options: { domain: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean', short: 'y' } },
    })

  it.each([
    [['--dryrun'], 'unknown option --dryrun: did you mean --dry-run?'],
    [['--nothing-like-it=1'], 'unknown option --nothing-like-it'],
    [['-x'], 'unknown option -x'],
    [['--domain'], '--domain needs a value'],
    [['--domain', '--yes'], '--domain needs a value; one that begins with a dash as --domain=VALUE'],
    [['--yes=1'], '--yes takes no value'],
    [['extra'], 'unexpected argument "extra"'],
  ])('says what is wrong with %o', (args, message) => {
    expect(() => parse(...args)).toThrow(new UsageError(message))
  })
})
