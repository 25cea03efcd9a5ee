import { utf8Length } from './utf8.ts'

// Kubernetes' rules for names, keys and label values. Each function returns the messages of the rules that `value`
// violates, or an empty array. Behaviour and texts as in apimachinery/pkg/util/validation, api/validate/content and
// api/validation. Lengths are in bytes of UTF-8, even where the message says characters.

/** Checks a value. Returns the messages of the violated rules, or an empty array. */
export type NameCheck = (value: string) => string[]

/**
 * Checks the name of an object. With `prefix`, the name is a generateName, which may end in a dash because a suffix
 * follows.
 */
export type ObjectNameCheck = (name: string, prefix: boolean) => readonly string[]

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const UNDERSCORE_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const UNDERSCORE_SUBDOMAIN = `${UNDERSCORE_LABEL}(\\.${UNDERSCORE_LABEL})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const WILDCARD_SUBDOMAIN = `\\*\\.${SUBDOMAIN}`
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${LABEL_KEY})?`
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*'
const PERCENT = '[0-9]+%'
const HTTP_HEADER_NAME = '[-A-Za-z0-9]+'
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const ENV_VAR_NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const CONFIG_MAP_KEY = '[-._a-zA-Z0-9]+'

const anchored = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`)
const LABEL_REGEX = anchored(LABEL)
const SUBDOMAIN_REGEX = anchored(SUBDOMAIN)
const UNDERSCORE_SUBDOMAIN_REGEX = anchored(UNDERSCORE_SUBDOMAIN)
const CASELESS_SUBDOMAIN_REGEX = new RegExp(`^${SUBDOMAIN}$`, 'i')
const LABEL_1035_REGEX = anchored(LABEL_1035)
const WILDCARD_SUBDOMAIN_REGEX = anchored(WILDCARD_SUBDOMAIN)
const LABEL_KEY_REGEX = anchored(LABEL_KEY)
const LABEL_VALUE_REGEX = anchored(LABEL_VALUE)
const C_IDENTIFIER_REGEX = anchored(C_IDENTIFIER)
const PERCENT_REGEX = anchored(PERCENT)
const HTTP_HEADER_NAME_REGEX = anchored(HTTP_HEADER_NAME)
const HTTP_PATH_REGEX = anchored(HTTP_PATH)
const ENV_VAR_NAME_REGEX = anchored(ENV_VAR_NAME)
const CONFIG_MAP_KEY_REGEX = anchored(CONFIG_MAP_KEY)

const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const CASELESS_SUBDOMAIN_MESSAGE =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const UNDERSCORE_SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character"
const LABEL_1035_MESSAGE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const WILDCARD_SUBDOMAIN_MESSAGE =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
const LABEL_KEY_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const LABEL_VALUE_MESSAGE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const C_IDENTIFIER_MESSAGE =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
const PERCENT_MESSAGE = "a valid percent string must be a numeric string followed by an ending '%'"
const HTTP_HEADER_NAME_MESSAGE = "a valid HTTP header must consist of alphanumeric characters or '-'"
const ENV_VAR_NAME_MESSAGE =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit"
const RELAXED_ENV_VAR_NAME_MESSAGE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"
const CONFIG_MAP_KEY_MESSAGE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
const DECIMAL_INTEGER_MESSAGE = 'must be a valid decimal integer in canonical form'

/** "must be no more than 63 characters": the text for names. */
export function maxLengthMessage(length: number): string {
  return `must be no more than ${length} characters`
}

/** "must be no more than 63 bytes": the text for label keys and values. */
export function maxBytesMessage(length: number): string {
  return `must be no more than ${length} bytes`
}

/** Appends examples and the pattern to a message: "... (e.g. 'a', or 'b', regex used for validation is '...')". */
export function regexMessage(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`
}

/** "must be between 1 and 65535, inclusive". */
export function inclusiveRangeMessage(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`
}

/** Checks a DNS label (RFC 1123): at most 63 bytes, no dots. */
export function isDNS1123Label(value: string): string[] {
  const errors = tooLong(value, 63)
  if (LABEL_REGEX.test(value)) return errors
  // A value that is a valid subdomain but not a valid label contains dots.
  if (SUBDOMAIN_REGEX.test(value)) errors.push('must not contain dots')
  else errors.push(regexMessage(LABEL_MESSAGE, LABEL, 'my-name', '123-abc'))
  return errors
}

/** Checks a lower-case DNS name (RFC 1123): labels separated by dots, at most 253 bytes. */
export function isDNS1123Subdomain(value: string): string[] {
  const errors = tooLong(value, 253)
  if (!SUBDOMAIN_REGEX.test(value)) errors.push(regexMessage(SUBDOMAIN_MESSAGE, SUBDOMAIN, 'example.com'))
  return errors
}

/** Like `isDNS1123Subdomain`, but allows upper case. */
export function isDNS1123SubdomainCaseless(value: string): string[] {
  const errors = utf8Length(value) > 253 ? [maxBytesMessage(253)] : []
  if (!CASELESS_SUBDOMAIN_REGEX.test(value)) {
    errors.push(regexMessage(CASELESS_SUBDOMAIN_MESSAGE, SUBDOMAIN, 'Example.com'))
  }
  return errors
}

/** Like `isDNS1123Subdomain`, but allows underscores. */
export function isDNS1123SubdomainWithUnderscore(value: string): string[] {
  const errors = tooLong(value, 253)
  if (!UNDERSCORE_SUBDOMAIN_REGEX.test(value)) {
    errors.push(regexMessage(UNDERSCORE_SUBDOMAIN_MESSAGE, UNDERSCORE_SUBDOMAIN, 'example.com'))
  }
  return errors
}

/** Checks a DNS label that starts with a letter (RFC 1035). */
export function isDNS1035Label(value: string): string[] {
  const errors = tooLong(value, 63)
  if (!LABEL_1035_REGEX.test(value)) {
    errors.push(regexMessage(LABEL_1035_MESSAGE, LABEL_1035, 'my-name', 'abc-123'))
  }
  return errors
}

/** Checks a wildcard DNS name: `*.` followed by a DNS name. */
export function isWildcardDNS1123Subdomain(value: string): string[] {
  const errors = tooLong(value, 253)
  if (!WILDCARD_SUBDOMAIN_REGEX.test(value)) {
    errors.push(regexMessage(WILDCARD_SUBDOMAIN_MESSAGE, WILDCARD_SUBDOMAIN, '*.example.com'))
  }
  return errors
}

/** Checks a label or annotation key: a name of at most 63 bytes, optionally prefixed by a DNS name and a slash. */
export function isQualifiedName(value: string): string[] {
  const errors: string[] = []
  const parts = value.split('/')
  if (parts.length > 2) {
    const syntax = regexMessage(LABEL_KEY_MESSAGE, LABEL_KEY, 'MyName', 'my.name', '123-abc')
    return [`a valid label key ${syntax} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const name = parts.at(-1) ?? ''
  if (parts.length === 2) {
    const prefix = parts[0] ?? ''
    if (prefix === '') errors.push('prefix part must be non-empty')
    else {
      if (utf8Length(prefix) > 253) errors.push(`prefix part ${maxBytesMessage(253)}`)
      if (!SUBDOMAIN_REGEX.test(prefix)) {
        errors.push(`prefix part ${regexMessage(SUBDOMAIN_MESSAGE, SUBDOMAIN, 'example.com')}`)
      }
    }
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (utf8Length(name) > 63) errors.push(`name part ${maxBytesMessage(63)}`)
  if (!LABEL_KEY_REGEX.test(name)) {
    errors.push(`name part ${regexMessage(LABEL_KEY_MESSAGE, LABEL_KEY, 'MyName', 'my.name', '123-abc')}`)
  }
  return errors
}

/** Checks a label value: empty, or at most 63 bytes with an alphanumeric first and last character. */
export function isValidLabelValue(value: string): string[] {
  const errors = utf8Length(value) > 63 ? [maxBytesMessage(63)] : []
  if (!LABEL_VALUE_REGEX.test(value)) {
    errors.push(regexMessage(LABEL_VALUE_MESSAGE, LABEL_VALUE, 'MyValue', 'my_value', '12345'))
  }
  return errors
}

/** Checks a DNS name of at least three segments. Callers report an empty name as required. */
export function isFullyQualifiedName(name: string): string[] {
  const errors = isDNS1123Subdomain(name)
  if (errors.length > 0) return [errors.join(',')]
  return name.split('.').length < 3 ? ['should be a domain with at least three segments separated by dots'] : []
}

/** Checks a DNS name of at least two labels; a trailing dot is allowed. Callers report an empty name as required. */
export function isFullyQualifiedDomainName(value: string): string[] {
  const name = value.endsWith('.') ? value.slice(0, -1) : value
  const errors = isDNS1123Subdomain(name)
  if (errors.length > 0) return [errors.join(',')]
  const labels = name.split('.')
  if (labels.length < 2) return ['should be a domain with at least two segments separated by dots']
  const bad = labels.map(isDNS1123Label).find((messages) => messages.length > 0)
  return bad === undefined ? [] : [bad.join(',')]
}

/** Checks a DNS name followed by a slash and an HTTP path: `acme.io/foo`. */
export function isDomainPrefixedPath(value: string): string[] {
  const slash = value.indexOf('/')
  if (slash < 1 || slash === value.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")']
  }
  const errors = isDNS1123Subdomain(value.slice(0, slash))
  if (!HTTP_PATH_REGEX.test(value.slice(slash + 1))) errors.push(regexMessage('Invalid path', HTTP_PATH))
  return errors
}

/** Checks a label key with a prefix: `acme.io/foo`. */
export function isDomainPrefixedKey(value: string): string[] {
  const errors = isQualifiedName(value)
  if (errors.length > 0) return errors
  return value.includes('/') ? [] : ['must be a domain-prefixed key (such as "acme.io/foo")']
}

/** Checks an identifier of the C language. */
export function isCIdentifier(value: string): string[] {
  if (C_IDENTIFIER_REGEX.test(value)) return []
  return [regexMessage(C_IDENTIFIER_MESSAGE, C_IDENTIFIER, 'my_name', 'MY_NAME', 'MyName')]
}

/** Checks a port number: 1 to 65535. */
export function isValidPortNum(port: number): string[] {
  return isInRange(port, 1, 65535)
}

/** Checks that a number is within a range, both ends included. */
export function isInRange(value: number, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [inclusiveRangeMessage(min, max)]
}

/** Checks a POSIX user or group ID: 0 to 2^31-1. */
export function isValidPosixId(id: number): string[] {
  return isInRange(id, 0, 2 ** 31 - 1)
}

/**
 * Checks an IANA service name: at most 15 characters of a-z, 0-9 and single inner hyphens, with at least one letter.
 */
export function isValidPortName(port: string): string[] {
  const errors = tooLong(port, 15)
  if (!/^[-a-z0-9]+$/.test(port)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(port)) errors.push('must contain at least one letter (a-z)')
  if (port.includes('--')) errors.push('must not contain consecutive hyphens')
  if (port.startsWith('-') || port.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/** Checks a percentage: digits and a percent sign. */
export function isValidPercent(value: string): string[] {
  return PERCENT_REGEX.test(value) ? [] : [regexMessage(PERCENT_MESSAGE, PERCENT, '1%', '93%')]
}

/** Checks the name of an HTTP header. */
export function isHTTPHeaderName(value: string): string[] {
  if (HTTP_HEADER_NAME_REGEX.test(value)) return []
  return [regexMessage(HTTP_HEADER_NAME_MESSAGE, HTTP_HEADER_NAME, 'X-Header-Name')]
}

/** Checks the name of an environment variable with the strict rule. */
export function isEnvVarName(value: string): string[] {
  const errors = ENV_VAR_NAME_REGEX.test(value)
    ? []
    : [regexMessage(ENV_VAR_NAME_MESSAGE, ENV_VAR_NAME, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1')]
  return [...errors, ...climbsDirectories(value)]
}

/** Checks the name of an environment variable with the relaxed rule: printable ASCII without `=`. */
export function isRelaxedEnvVarName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty']
  return /^[ -<>-~]+$/.test(value) ? [] : [RELAXED_ENV_VAR_NAME_MESSAGE]
}

/** Checks a key in the data of a ConfigMap or Secret. */
export function isConfigMapKey(value: string): string[] {
  const errors = tooLong(value, 253)
  if (!CONFIG_MAP_KEY_REGEX.test(value)) {
    errors.push(regexMessage(CONFIG_MAP_KEY_MESSAGE, CONFIG_MAP_KEY, 'key.name', 'KEY_NAME', 'key-name'))
  }
  return [...errors, ...climbsDirectories(value)]
}

/** Checks a decimal integer in canonical form: no plus sign, leading zeros or minus zero. */
export function isDecimalInteger(value: string): string[] {
  if (value === '') return ['must be non-empty']
  return /^(?:0|-?[1-9][0-9]*)$/.test(value) ? [] : [DECIMAL_INTEGER_MESSAGE]
}

/** Checks a name, or a prefix of a name, that serves as one segment of a URL path. */
export const isPathSegmentName: ObjectNameCheck = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return ['/', '%'].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`)
}

/** Checks an object name that must be a DNS name, as for most kinds. */
export const nameIsDNSSubdomain: ObjectNameCheck = (name, prefix) =>
  isDNS1123Subdomain(prefix ? maskTrailingDash(name) : name)

/** Checks an object name that must be a DNS label, as for namespaces. */
export const nameIsDNSLabel: ObjectNameCheck = (name, prefix) => isDNS1123Label(prefix ? maskTrailingDash(name) : name)

/** Checks an object name that must be a DNS label starting with a letter, as for services. */
export const nameIsDNS1035Label: ObjectNameCheck = (name, prefix) =>
  isDNS1035Label(prefix ? maskTrailingDash(name) : name)

/**
 * Replaces the trailing dash of a generateName, because a suffix will follow it.
 *
 * As in apimachinery, two characters are replaced by one, so the length check sees one character less than the client
 * sent.
 */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}

function tooLong(value: string, limit: number): string[] {
  return utf8Length(value) > limit ? [maxLengthMessage(limit)] : []
}

function climbsDirectories(value: string): string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`]
  return value.startsWith('..') ? ["must not start with '..'"] : []
}
