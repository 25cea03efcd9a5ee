export { append } from './append.ts'
export { AsyncDisposer } from './async-disposer.ts'
export { AsyncQueue, type AsyncQueueOptions } from './async-queue.ts'
export type { Awaitable } from './awaitable.ts'
export { Backoff, type BackoffOptions, delayWithReset, jitter } from './backoff.ts'
export { type BodyAccount, BodyBudget, type BodyBudgetLimits } from './body/body-budget.ts'
export { type BodyRefusal, type BodyStream, IncomingBody } from './body/incoming-body.ts'
export { ReceivedBody } from './body/received-body.ts'
export { type Budget, type BudgetText, defineBudget, definedBudgets } from './budget.ts'
export { CaughtError } from './caught-error.ts'
export { type Clock, every, sleepWith, type Timer, type WaitOptions } from './clock.ts'
export { closestWord } from './closest-word.ts'
export { compareValues } from './compare-values.ts'
export { deepCopy } from './deep-copy.ts'
export { deepEqual } from './deep-equal.ts'
export { deepFreeze } from './deep-freeze.ts'
export type { DeepMutable, DeepReadonly } from './deep-readonly.ts'
export { Deferred } from './deferred.ts'
export {
  type Duration,
  type DurationText,
  formatDuration,
  millisToNanos,
  nanosToMillis,
  parseDuration,
  toMillis,
} from './duration.ts'
export { baseErrorCodes } from './error-codes.ts'
export { errorText } from './error-text.ts'
export { Fifo } from './fifo.ts'
export { defineFlags, type Flag, type FlagTable, type FlagValues } from './flags/flag.ts'
export {
  defaultOf,
  type FlagsHelpOptions,
  flagLabel,
  flagsHelp,
  flagText,
  twoColumns,
  wrapText,
} from './flags/flags-help.ts'
export { type FlagStyle, integerFrom, type ParsedFlags, parseFlags } from './flags/parse-flags.ts'
export { UsageError } from './flags/usage-error.ts'
export { Heap, type HeapOptions } from './heap.ts'
export { endOfJsonString, endOfJsonValue, type JsonFacts, scanJson } from './json-bytes.ts'
export { asJsonObject, asList, isJsonObject, textOf, textsOf } from './json-object.ts'
export { isKubewrightError, KubewrightError, type KubewrightErrorCode } from './kubewright-error.ts'
export { abortable, type LazySignal, type LinkedController, linkSignals } from './link-signals.ts'
export {
  createLogger,
  type Logger,
  type LogRecord,
  type LogSink,
  type LogValues,
  type MemoryLogger,
  memoryLogger,
  nullLogger,
} from './logger.ts'
export { acceptedFormat, type ExpositionFormat, expositionTypes } from './metrics/exposition.ts'
export {
  type AnyMetric,
  type Counter,
  counter,
  type Gauge,
  gauge,
  type Histogram,
  type HistogramOptions,
  histogram,
  type LabelValues,
  type Metric,
  type MetricOptions,
} from './metrics/metric.ts'
export { defaultBuckets, exponentialBuckets, type MetricDefinition } from './metrics/metric-definition.ts'
export { createMetricRegistry, type MetricRegistry } from './metrics/metric-registry.ts'
export type { MetricLabels, MetricSink } from './metrics/metric-sink.ts'
export { type MeasuredProcess, type MeasureProcessOptions, measureProcess } from './metrics/process-metrics.ts'
export { type Defined, omitUndefined } from './omit-undefined.ts'
export { onAbort } from './on-abort.ts'
export { ProcessClock } from './process-clock.ts'
export { type Random, randomFrom } from './random.ts'
export { randomSuffix, safeEncode } from './random-suffix.ts'
export { type RetryOptions, retry } from './retry.ts'
export { type Seed, seededRandom } from './seeded-random.ts'
export { AsyncMutex, Semaphore } from './semaphore.ts'
export { SortedKeys } from './sorted-keys.ts'
export { base64Prefix } from './syntax/base64.ts'
export { type CronSchedule, parseCron } from './syntax/cron.ts'
export { type FormatCheck, formatCheck, isSupportedFormat, matchesFormat } from './syntax/formats.ts'
export { goEscapes, goQuote, shortQuote } from './syntax/go-quote.ts'
export { goSecondsToMillis } from './syntax/go-seconds.ts'
export { formatNetIP, IPAddress, IPPrefix, parseCIDRSloppy, parseIPSloppy } from './syntax/ip.ts'
export { isMailAddress } from './syntax/mail-address.ts'
export {
  inclusiveRangeMessage,
  isCIdentifier,
  isConfigMapKey,
  isDecimalInteger,
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isDNS1123SubdomainCaseless,
  isDNS1123SubdomainWithUnderscore,
  isDomainPrefixedKey,
  isDomainPrefixedPath,
  isEnvVarName,
  isFullyQualifiedDomainName,
  isFullyQualifiedName,
  isHTTPHeaderName,
  isInRange,
  isPathSegmentName,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidLabelValue,
  isValidPercent,
  isValidPortName,
  isValidPortNum,
  isValidPosixId,
  isWildcardDNS1123Subdomain,
  maskTrailingDash,
  maxBytesMessage,
  maxLengthMessage,
  type NameCheck,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  type ObjectNameCheck,
  regexMessage,
} from './syntax/names.ts'
export { parseQuantity, Quantity, type QuantityFormat } from './syntax/quantity.ts'
export {
  canonicalMicroTime,
  canonicalRFC3339,
  formatMicroTime,
  formatRFC3339,
  formatRFC3339Nano,
  type Instant,
  instantFromMillis,
  isCalendarDate,
  parseMicroTime,
  parseRFC3339,
  type ZonedInstant,
} from './syntax/rfc3339.ts'
export { fixedTimeZone, type TimeZone, timeZone, type WallTime } from './syntax/time-zone.ts'
export { GoURL, isRequestURI } from './syntax/url.ts'
export { codePointLength, compareUtf8, utf8Length } from './syntax/utf8.ts'
export { drainMicrotasks, systemClock, turnWhenDue } from './system-clock.ts'
export { systemRandom } from './system-random.ts'
export { trim, trimEnd } from './trim.ts'
export { Stretch, turnAfter } from './turn-after.ts'
export { diffLines, type LineChange, unifiedDiff } from './unified-diff.ts'
export { unreachable } from './unreachable.ts'
export { shortId, uuid } from './uuid.ts'
export {
  type PendingTimer,
  type RunUntilIdleOptions,
  VirtualClock,
  type VirtualClockOptions,
} from './virtual-clock.ts'
export { wantsColors } from './wants-colors.ts'
export { withDeadline, withLazyDeadline } from './with-deadline.ts'
