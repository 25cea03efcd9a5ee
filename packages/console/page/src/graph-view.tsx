import type { ObjectName } from '../../src/wire/names.ts'
import { layoutGraph, type PlacedNode } from './graph-layout.ts'
import { objectRoute, routeHash } from './route.ts'
import { text } from './text.ts'
import { useTopic } from './use-topic.ts'

const [columnWidth, rowHeight, nodeWidth, nodeHeight] = [260, 56, 216, 44]
// Pods of one ReplicaSet differ only in the last characters of their names, so these are never cut off.
const shownEnd = 6

/** The owners and dependents of an object. Nodes move when the graph changes. */
export function GraphView({ name }: { readonly name: ObjectName }) {
  const graph = useTopic({ type: 'graph', object: name })
  if (graph === undefined || (graph.state === 'loading' && graph.nodes.length === 0))
    return <p class="empty">{text('loading')}</p>
  if (graph.nodes.length === 0) return <p class="empty">{text('notFound')}</p>
  const placed = layoutGraph(graph.nodes, graph.edges)
  const places = new Map(placed.map((place) => [place.node.uid, place]))
  const width = placed.reduce((most, { column }) => Math.max(most, column), 0) * columnWidth + nodeWidth + 8
  const height = placed.reduce((most, { row }) => Math.max(most, row), 0) * rowHeight + nodeHeight + 8
  return (
    <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
      <svg width={width} height={height} aria-hidden="true">
        {graph.edges.map(([from, to]) => (
          <path key={`${from} ${to}`} d={curve(places.get(from), places.get(to))} />
        ))}
      </svg>
      <ul aria-label={text('graph')}>
        {placed.map((place) => (
          <GraphItem key={place.node.uid} place={place} name={name} />
        ))}
      </ul>
    </div>
  )
}

function GraphItem({ place, name }: { readonly place: PlacedNode; readonly name: ObjectName }) {
  const { node } = place
  const { object } = node
  const isRoot = object?.name === name.name && object.resource.plural === name.resource.plural
  const classes = ['node', isRoot && 'root', node.deleting && 'deleting'].filter(Boolean).join(' ')
  const label = (
    <>
      <small>{node.kind}</small>
      <span class="ends" title={node.name}>
        <span>{node.name.slice(0, -shownEnd)}</span>
        <span>{node.name.slice(-shownEnd)}</span>
      </span>
    </>
  )
  const [x, y] = [place.column * columnWidth, place.row * rowHeight]
  return (
    <li class={classes} style={{ transform: `translate(${x}px, ${y}px)` }}>
      {object ? <a href={routeHash(objectRoute(object, 'graph'))}>{label}</a> : label}
    </li>
  )
}

function curve(from: PlacedNode | undefined, to: PlacedNode | undefined): string {
  if (from === undefined || to === undefined) return ''
  const [x1, y1] = [from.column * columnWidth + nodeWidth, from.row * rowHeight + nodeHeight / 2]
  const [x2, y2] = [to.column * columnWidth, to.row * rowHeight + nodeHeight / 2]
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
