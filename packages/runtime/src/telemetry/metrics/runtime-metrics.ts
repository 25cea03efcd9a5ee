import { exponentialBuckets, type MetricDefinition } from '@kubewright/base'

const define = (
  name: string,
  type: MetricDefinition['type'],
  help: string,
  labels: readonly string[] = [],
  buckets?: readonly number[],
): MetricDefinition => Object.freeze({ name, type, help, labels, ...(buckets ? { buckets } : {}) })

/**
 * Requests to API servers, under client-go's name. Counts each attempt. An attempt without a response has code
 * `<error>`.
 */
export const restClientMetrics: readonly MetricDefinition[] = Object.freeze([
  define(
    'rest_client_requests_total',
    'counter',
    'Number of HTTP requests, partitioned by status code, method, and host.',
    ['code', 'method', 'host'],
  ),
])

const latencyBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const sizeBuckets = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

/**
 * Further metrics of requests to API servers. They create many series, so operators opt in, as with controller-runtime.
 */
export const restClientDetailMetrics: readonly MetricDefinition[] = Object.freeze([
  define(
    'rest_client_request_duration_seconds',
    'histogram',
    'Request latency in seconds. Broken down by verb, and host.',
    ['verb', 'host'],
    latencyBuckets,
  ),
  define(
    'rest_client_request_size_bytes',
    'histogram',
    'Request size in bytes. Broken down by verb and host.',
    ['verb', 'host'],
    sizeBuckets,
  ),
  define(
    'rest_client_request_retries_total',
    'counter',
    'Number of request retries, partitioned by status code, verb, and host.',
    ['code', 'verb', 'host'],
  ),
])

/** Leader election, under client-go's names. */
export const leaderElectionMetrics: readonly MetricDefinition[] = Object.freeze([
  define(
    'leader_election_master_status',
    'gauge',
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
  ),
  define(
    'leader_election_slowpath_total',
    'counter',
    "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
  ),
])

/** Webhooks, under controller-runtime's names. */
export const webhookMetrics: readonly MetricDefinition[] = Object.freeze([
  define(
    'controller_runtime_webhook_latency_seconds',
    'histogram',
    'Histogram of the latency of processing admission requests',
    ['webhook'],
    exponentialBuckets(10e-9, 10, 12),
  ),
  define(
    'controller_runtime_webhook_requests_total',
    'counter',
    'Total number of admission requests by HTTP status code.',
    ['webhook', 'code'],
  ),
  define(
    'controller_runtime_webhook_requests_in_flight',
    'gauge',
    'Current number of admission requests being served.',
    ['webhook'],
  ),
  define('controller_runtime_webhook_panics_total', 'counter', 'Total number of webhook panics'),
  define('controller_runtime_conversion_webhook_panics_total', 'counter', 'Total number of conversion webhook panics'),
])

/** Certificates read from files, under controller-runtime's names. */
export const certificateMetrics: readonly MetricDefinition[] = Object.freeze([
  define('certwatcher_read_certificate_total', 'counter', 'Total number of certificate reads'),
  define('certwatcher_read_certificate_errors_total', 'counter', 'Total number of certificate read errors'),
])
