import { describe, expect, test } from 'vitest'
import {
  isConfigMapKey,
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isEnvVarName,
  isFullyQualifiedName,
  isPathSegmentName,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidLabelValue,
  isValidPortName,
  isValidPortNum,
  isWildcardDNS1123Subdomain,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
} from './names.ts'

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelKey =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

describe('name checks', () => {
  test.each([
    [isDNS1123Label, 'a-1', []],
    [isDNS1123Label, 'a.b', ['must not contain dots']],
    [isDNS1123Label, 'A', [label]],
    [isDNS1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
    [isDNS1123Subdomain, 'a.b-c.1', []],
    [isDNS1123Subdomain, '', [subdomain]],
    [isDNS1123Subdomain, 'a..b', [subdomain]],
    [isDNS1123Subdomain, 'ä'.repeat(127), ['must be no more than 253 characters', subdomain]],
    [isDNS1035Label, 'abc-1', []],
    [isWildcardDNS1123Subdomain, '*.example.com', []],
    [isQualifiedName, 'example.com/MyName', []],
    [isQualifiedName, '/x', ['prefix part must be non-empty']],
    [isQualifiedName, 'Example.com/x', [`prefix part ${subdomain}`]],
    [isQualifiedName, 'example.com/', ['name part must be non-empty', `name part ${labelKey}`]],
    [isQualifiedName, 'a'.repeat(64), ['name part must be no more than 63 bytes']],
    [
      isQualifiedName,
      'a/b/c',
      [`a valid label key ${labelKey} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    [isValidLabelValue, '', []],
    [isValidLabelValue, 'a'.repeat(64), ['must be no more than 63 bytes']],
    [
      isValidLabelValue,
      '-a',
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [isFullyQualifiedName, 'a.b.c', []],
    [isFullyQualifiedName, 'a.b', ['should be a domain with at least three segments separated by dots']],
    [isEnvVarName, '..', ["must not be '..'"]],
    [
      isRelaxedEnvVarName,
      'a=b',
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    [isConfigMapKey, '..a', ["must not start with '..'"]],
    [
      isConfigMapKey,
      'a/b',
      [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [isValidPortName, 'http-1', []],
    [
      isValidPortName,
      '--',
      [
        'must contain at least one letter (a-z)',
        'must not contain consecutive hyphens',
        'must not begin or end with a hyphen',
      ],
    ],
  ] as const)('%o of %j returns %j', (check, value, messages) => {
    expect(check(value)).toEqual(messages)
  })

  test('isValidPortNum() reports the valid range', () => {
    expect(isValidPortNum(65535)).toEqual([])
    expect(isValidPortNum(0)).toEqual(['must be between 1 and 65535, inclusive'])
  })

  test('isPathSegmentName() allows dots as a prefix only', () => {
    expect(isPathSegmentName('..', false)).toEqual(["may not be '..'"])
    expect(isPathSegmentName('..', true)).toEqual([])
    expect(isPathSegmentName('a/%', false)).toEqual(["may not contain '/'", "may not contain '%'"])
  })

  test('nameIsDNSSubdomain() and nameIsDNSLabel() allow a generateName to end in a dash', () => {
    expect(nameIsDNSSubdomain('web-', true)).toEqual([])
    expect(nameIsDNSSubdomain('web-', false)).toEqual([subdomain])
    expect(nameIsDNSLabel('web-', true)).toEqual([])
    expect(nameIsDNSLabel('-', true)).toEqual([label])
  })
})
