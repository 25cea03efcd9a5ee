import { createLogger, type Logger, nullLogger, systemClock } from '@kubewright/base'
import { createLogSink } from '@kubewright/runtime'

/** The formats of log lines. */
export type TestLogFormat = 'pretty' | 'json' | 'silent'

/**
 * The logger of an environment: the option or, without one, the format in the environment variable KUBEWRIGHT_TEST_LOG
 * (`pretty`, `json`, or `debug` for pretty lines with more detail). Lines go to the standard error.
 */
export function testLogger(option: Logger | TestLogFormat | undefined): Logger {
  if (typeof option === 'object') return option
  const wanted = option ?? process.env['KUBEWRIGHT_TEST_LOG'] ?? 'silent'
  if (wanted === 'silent' || wanted === '') return nullLogger
  if (wanted !== 'pretty' && wanted !== 'json' && wanted !== 'debug') {
    throw new TypeError(`KUBEWRIGHT_TEST_LOG must be pretty, json, debug or silent: ${JSON.stringify(wanted)}`)
  }
  const write = (line: string): void => void process.stderr.write(`${line}\n`)
  const format = wanted === 'json' ? 'json' : 'pretty'
  return createLogger(createLogSink({ clock: systemClock, format, level: wanted === 'debug' ? 1 : 0, write }))
}
