import type { Topic } from '../wire/messages.ts'
import { ChangesFeed } from './changes-feed.ts'
import type { Feed, FeedContext } from './feed.ts'
import { ForwardsFeed } from './forwards-feed.ts'
import { GraphFeed } from './graph-feed.ts'
import { KindsFeed } from './kinds-feed.ts'
import { LeversFeed } from './levers-feed.ts'
import { LogsFeed } from './logs-feed.ts'
import { ObjectFeed } from './object-feed.ts'
import { OperatorsFeed } from './operators-feed.ts'
import { TableFeed } from './table-feed.ts'
import { TerminalFeed } from './terminal-feed.ts'
import { TimelineFeed } from './timeline-feed.ts'

/** Starts to follow a topic. */
export function openFeed(topic: Topic, context: FeedContext): Feed {
  switch (topic.type) {
    case 'kinds':
      return new KindsFeed(context)
    case 'table':
      return new TableFeed(topic, context)
    case 'object':
      return new ObjectFeed(topic, context)
    case 'graph':
      return new GraphFeed(topic, context)
    case 'operators':
      return new OperatorsFeed(context)
    case 'logs':
      return new LogsFeed(topic, context)
    case 'terminal':
      return new TerminalFeed(topic, context)
    case 'forwards':
      return new ForwardsFeed(context)
    case 'levers':
      return new LeversFeed(context)
    case 'timeline':
      return new TimelineFeed(context)
    case 'changes':
    case 'history':
      return new ChangesFeed(topic, context)
  }
}
