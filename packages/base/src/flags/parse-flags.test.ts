import { describe, expect, test } from 'vitest'
import { defineFlags } from './flag.ts'
import { type FlagStyle, integerFrom, parseFlags } from './parse-flags.ts'
import { UsageError } from './usage-error.ts'

const table = defineFlags({
  domain: { value: 'DOMAIN', help: 'Use this domain', short: 'd' },
  port: { value: 'N', help: 'Listen here', default: '80', parse: integerFrom(0, 65_535) },
  output: { value: 'FORMAT', help: 'Print this', choices: ['text', 'json'], default: 'text' },
  crd: { value: 'FILE', help: 'Read this', repeatable: true },
  size: { value: 'SIZE', help: 'Fit this', aliases: ['zap-size'], parse: (text) => checkedSize(text) },
  'dry-run': { help: 'Write nothing', default: false },
  wait: { help: 'Do not wait', default: true, negated: true },
  yes: { help: 'Ask nothing', short: 'y' },
  verbose: { help: 'Log more', short: 'v' },
  make: { help: 'Ignored', hidden: true },
})

function checkedSize(text: string): number {
  if (text === 'huge') throw new RangeError(`"${text}" is too large`)
  return text.length
}

const parse = (args: string, style?: FlagStyle) => parseFlags(table, args === '' ? [] : args.split(' '), style)

describe('parseFlags()', () => {
  test('applies defaults', () => {
    expect(parse('')).toEqual({
      values: {
        domain: undefined,
        port: 80,
        output: 'text',
        crd: [],
        size: undefined,
        'dry-run': false,
        wait: true,
        yes: undefined,
        verbose: undefined,
        make: undefined,
      },
      operands: [],
      rest: undefined,
    })
  })

  test.each([
    ['--domain a.com --port=8080', { domain: 'a.com', port: 8080 }],
    ['-d a.com', { domain: 'a.com' }],
    ['-da.com', { domain: 'a.com' }],
    ['--domain=', { domain: '' }],
    ['--domain=a=b', { domain: 'a=b' }],
    ['--domain a --domain b', { domain: 'b' }],
    ['--crd a --crd=b --crd -', { crd: ['a', 'b', '-'] }],
    ['--zap-size abc', { size: 3 }],
    ['-yv', { yes: true, verbose: true }],
    ['--dry-run --no-wait', { 'dry-run': true, wait: false }],
    ['--dry-run=false --wait=true --yes=1', { 'dry-run': false, wait: true, yes: true }],
    ['--make=false', { make: false }],
  ])('reads %s', (args, values) => {
    expect(parse(args).values).toMatchObject(values)
  })

  test('separates operands, and arguments after two dashes', () => {
    expect(parse('a --yes - b -- --yes c')).toMatchObject({
      values: { yes: true },
      operands: ['a', '-', 'b'],
      rest: ['--yes', 'c'],
    })
    expect(parse('a --').rest).toEqual([])
  })

  test.each([
    ['--dryrun', 'unknown flag --dryrun: did you mean --dry-run?'],
    ['--nothing-like-it=1', 'unknown flag --nothing-like-it'],
    ['--mak', 'unknown flag --mak'],
    ['--no-port', 'unknown flag --no-port'],
    ['--no-wait=true', 'unknown flag --no-wait'],
    ['-x', 'unknown flag -x'],
    ['-yx', 'unknown flag -x'],
    ['--domain', '--domain needs a value: --domain DOMAIN'],
    ['--domain --yes', '--domain needs a value, but "--yes" follows: write --domain=--yes if that is the value'],
    ['--yes=maybe', '--yes must be true or false, not "maybe"'],
    ['--output xml', '--output must be text or json, not "xml"'],
    ['--port x', '--port must be a number from 0 to 65535, not "x"'],
    ['--zap-size huge', '--zap-size: "huge" is too large'],
  ])('refuses %s', (args, message) => {
    expect(() => parse(args)).toThrow(new UsageError(message))
  })

  test('follows the conventions of Go on request', () => {
    expect(parse('-domain -1 -yes=false --dry-run', 'go').values).toMatchObject({
      domain: '-1',
      yes: false,
      'dry-run': true,
    })
    expect(() => parse('--no-wait', 'go')).toThrow('unknown flag --no-wait')
    expect(() => parse('-dmn x', 'go')).toThrow('unknown flag --dmn')
  })
})

test('parseFlags() uses the bare text of a flag without =VALUE, and never the next argument', () => {
  const flags = defineFlags({ inspect: { value: 'PORT', bare: '9229', parse: integerFrom(0, 9999), help: '' } })
  expect(parseFlags(flags, ['--inspect', '1'])).toMatchObject({ values: { inspect: 9229 }, operands: ['1'] })
  expect(parseFlags(flags, ['--inspect=1']).values.inspect).toBe(1)
})
