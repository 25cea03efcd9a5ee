import type { AccessView } from './access-view.ts'
import type { ChangeView, TimelineView } from './change-view.ts'
import type { FormSchema } from './form-schema.ts'
import type { LeverAction, LeverKinds, LeversView } from './lever-view.ts'
import type { KindInfo, ObjectName, ResourceName } from './names.ts'
import type { ObjectView } from './object-view.ts'
import type { OperatorView } from './operator-view.ts'

/**
 * A subject that the page follows. The server sends its state first, then every change. With `at`, the number of a
 * moment of the recording, it sends the state at that moment.
 */
export type Topic = (
  | { readonly type: 'kinds' }
  | {
      readonly type: 'table'
      readonly resource: ResourceName
      readonly namespace?: string | undefined
      readonly labelSelector?: string | undefined
      readonly fieldSelector?: string | undefined
    }
  /** With `reveal`, the values of a Secret are not masked. */
  | { readonly type: 'object'; readonly object: ObjectName; readonly reveal?: boolean | undefined }
  | { readonly type: 'graph'; readonly object: ObjectName }
  | { readonly type: 'operators' }
  /** The log of a container; with `previous`, that of the instance before its last restart. */
  | {
      readonly type: 'logs'
      readonly object: ObjectName
      readonly container: string
      readonly previous?: boolean | undefined
    }
  /** The output of a command that `exec` has started. */
  | { readonly type: 'terminal'; readonly terminal: string }
  /** The forwarded ports. */
  | { readonly type: 'forwards' }
  /** The faults that the levers have caused. */
  | { readonly type: 'levers' }
  /** The moments that the recording can show. */
  | { readonly type: 'timeline' }
  /** The last changes, newest first. */
  | { readonly type: 'changes'; readonly limit: number }
  /** The changes of one object, newest first. */
  | { readonly type: 'history'; readonly object: ObjectName }
) & { readonly at?: number | undefined }

/** The state of a list that is kept current by a watch. */
export type FeedState = 'loading' | 'live' | 'retrying'

/** A column of a table, as the API server defines it. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly description: string
  /** 0 for columns of the normal view, more for those of the wide one. */
  readonly priority: number
}

/** A row of a table. */
export interface Row {
  readonly uid: string
  readonly name: string
  readonly namespace?: string | undefined
  /** RFC 3339. */
  readonly created: string
  readonly cells: readonly (string | number | boolean | null)[]
}

/** A node of the ownership graph. */
export interface GraphNode {
  readonly uid: string
  readonly kind: string
  readonly name: string
  /** Absent for owners that the cluster does not serve. */
  readonly object?: ObjectName | undefined
  readonly deleting: boolean
}

/** A change of a topic. */
export type Update =
  | { readonly type: 'kinds'; readonly kinds: readonly KindInfo[]; readonly problem?: string | undefined }
  | {
      readonly type: 'table'
      /** True for the first message: earlier rows do not count. */
      readonly reset: boolean
      readonly columns?: readonly Column[] | undefined
      readonly rows: readonly Row[]
      /** The uids of deleted rows. */
      readonly removed: readonly string[]
      readonly state: FeedState
      readonly problem?: string | undefined
    }
  | {
      readonly type: 'object'
      /** null when the object does not exist or was deleted. */
      readonly object: ObjectView | null
      readonly state: FeedState
      readonly problem?: string | undefined
    }
  | {
      readonly type: 'graph'
      readonly nodes: readonly GraphNode[]
      /** Pairs of uids: owner, dependent. */
      readonly edges: readonly (readonly [string, string])[]
      readonly state: FeedState
    }
  | { readonly type: 'operators'; readonly operators: readonly OperatorView[] }
  | {
      readonly type: 'logs'
      /** True for the first message: earlier lines do not count. */
      readonly reset: boolean
      readonly lines: readonly string[]
      readonly state: FeedState
      readonly problem?: string | undefined
    }
  | {
      readonly type: 'terminal'
      /** True for the first message: earlier output does not count. */
      readonly reset: boolean
      /** Output since the last message. */
      readonly text: string
      /** Present once the command has ended. */
      readonly end?: { readonly exitCode?: number | undefined; readonly problem?: string | undefined } | undefined
    }
  | { readonly type: 'forwards'; readonly forwards: readonly ForwardView[] }
  | { readonly type: 'levers'; readonly levers: LeversView }
  | { readonly type: 'timeline'; readonly timeline: TimelineView }
  | ChangesUpdate

/** The first message of a stream. */
export interface Hello {
  readonly type: 'hello'
  /** Names this stream in requests that follow and unfollow topics. */
  readonly stream: string
  /** The address of the API server. */
  readonly server: string
  /** Where the connection was configured, such as the name of a context. */
  readonly cluster: string
  readonly readOnly: boolean
  /** Whether the page shows a recording from a file: there is no live cluster. */
  readonly isRecording: boolean
  readonly levers: LeverKinds
}

/** A message of the stream. `topic` is the number that the page gave the topic. */
export type StreamMessage = Hello | (Update & { readonly topic: number })

/** A request of the page. */
export type PageRequest =
  | { readonly type: 'follow'; readonly stream: string; readonly id: number; readonly topic: Topic }
  | { readonly type: 'unfollow'; readonly stream: string; readonly id: number }
  /** Responds with the YAML that an edit starts from, and the same as JSON. */
  | { readonly type: 'source'; readonly object: ObjectName }
  /** Responds with the diff of an object between two moments of the recording. */
  | { readonly type: 'compare'; readonly object: ObjectName; readonly from: number; readonly to: number }
  /** Responds with the schema of a kind for a form. */
  | { readonly type: 'schema'; readonly resource: ResourceName }
  /** Responds with the subjects that may use each verb on an object. */
  | { readonly type: 'access'; readonly object: ObjectName }
  | Action
  | LeverAction

/** Changes of the recording, newest first: with `reset` all that the topic shows, otherwise those since the last update. */
export interface ChangesUpdate {
  readonly type: 'changes' | 'history'
  readonly reset: boolean
  readonly changes: readonly ChangeView[]
  /** The maximum number of changes that the topic shows. */
  readonly limit: number
}

/** A request that changes the cluster. Refused by a read-only console. */
export type Action =
  | {
      readonly type: 'delete'
      readonly object: ObjectName
      readonly propagation: 'Background' | 'Foreground' | 'Orphan'
      /** Deletes only this incarnation of the object. */
      readonly uid: string
    }
  | { readonly type: 'scale'; readonly object: ObjectName; readonly replicas: number }
  | { readonly type: 'label'; readonly object: ObjectName; readonly labels: Readonly<Record<string, string | null>> }
  | { readonly type: 'restart'; readonly object: ObjectName }
  /** For pods. */
  | { readonly type: 'evict'; readonly object: ObjectName }
  /** For nodes. `drain` also evicts their pods. */
  | { readonly type: 'cordon' | 'uncordon' | 'drain'; readonly object: ObjectName }
  | CreateAction
  | EditAction
  | TerminalAction
  | ForwardAction

/**
 * Runs a command in a container of a pod. Not a topic, because topics are followed again after a lost connection, and a
 * command must not run twice.
 */
export type TerminalAction =
  | {
      readonly type: 'exec'
      readonly object: ObjectName
      readonly container: string
      readonly command: readonly string[]
    }
  | { readonly type: 'input'; readonly terminal: string; readonly text: string }
  | { readonly type: 'endTerminal'; readonly terminal: string }

/** Forwards a port of 127.0.0.1 to a pod; the local port 0 picks a free one. */
export type ForwardAction =
  | { readonly type: 'forward'; readonly object: ObjectName; readonly port: number; readonly localPort: number }
  | { readonly type: 'stopForward'; readonly id: number }

/** A port of 127.0.0.1 that leads to a pod. */
export interface ForwardView {
  readonly id: number
  readonly namespace: string
  readonly pod: string
  readonly port: number
  readonly localPort: number
  /** Why the last connection failed. */
  readonly problem?: string | undefined
}

/** Creates an object, or with `dryRun` only checks it. */
export interface CreateAction {
  readonly type: 'create'
  readonly resource: ResourceName
  /** Absent for objects of cluster scope. */
  readonly namespace?: string | undefined
  readonly yaml: string
  readonly dryRun: boolean
}

/** Writes edited YAML, or with `dryRun` shows the changes that it would make. */
export interface EditAction {
  readonly type: 'edit'
  readonly object: ObjectName
  /** The YAML that the edit started from. */
  readonly source: string
  readonly yaml: string
  /** `apply` sends the changed fields by server-side apply; `replace` sends the whole object by update. */
  readonly mode: 'apply' | 'replace'
  /** Takes fields over from other managers. */
  readonly force: boolean
  readonly dryRun: boolean
}

/** An error at a field: a conflict of a server-side apply, or an invalid value. */
export interface Conflict {
  readonly field: string
  readonly message: string
}

/** The response to a {@link PageRequest}. */
export interface PageResponse {
  /** The YAML of `source`, and the same object as JSON. */
  readonly yaml?: string | undefined
  readonly json?: string | undefined
  readonly schema?: FormSchema | undefined
  /** The unified diff of a dry run or comparison. */
  readonly diff?: readonly string[] | undefined
  /** The name of the terminal that `exec` has opened. */
  readonly terminal?: string | undefined
  readonly access?: readonly AccessView[] | undefined
  /** What a lever has done, if the page cannot see it otherwise: the number of watches that were cut. */
  readonly count?: number | undefined
  readonly error?: string | undefined
  readonly conflicts?: readonly Conflict[] | undefined
  /** The fields of an invalid object, with their errors. */
  readonly invalid?: readonly Conflict[] | undefined
}
