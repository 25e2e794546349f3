// The query builder: a GraphiQL plugin that writes the query from checked fields.
import { type GraphiQLPlugin, useOperationsEditorState, useOptimisticState, useSchemaStore } from '@graphiql/react'
import { ListChecks } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { BranchRow } from './branch-row.tsx'
import { readQuery } from './query-edit.ts'
import { rootBranches } from './schema-branches.ts'
import './query-builder.css'

const KINDS = ['query', 'mutation'] as const

function QueryBuilder(): ReactNode {
  const { schema, fetchError } = useSchemaStore()
  const [text, setText] = useOptimisticState(useOperationsEditorState())
  const [chosen, setChosen] = useState<string | null>(null)
  const isMutation = useMemo(() => readQuery(text, 'query')?.operation === null && hasMutation(text), [text])
  const kind = chosen ?? (isMutation ? 'mutation' : 'query')
  const edited = useMemo(() => readQuery(text, kind), [text, kind])
  const branches = useMemo(() => (schema ? rootBranches(schema, kind) : []), [schema, kind])
  return (
    <section className="query-builder" aria-label="Query builder">
      <h2>Query builder</h2>
      <fieldset className="segments">
        <legend className="unseen">Kind of operation</legend>
        {KINDS.map((name) => (
          <label key={name}>
            <input type="radio" name="operation-kind" checked={kind === name} onChange={() => setChosen(name)} />
            {name}
          </label>
        ))}
      </fieldset>
      {!schema && fetchError !== null ? (
        <p className="note">The schema could not be read, so there is nothing to tick here.</p>
      ) : edited === null ? (
        <p className="note">The query has a mistake. Mend it in the editor to go on here.</p>
      ) : (
        <>
          <p className="note">Tick what you want to read. Values of arguments go into Variables.</p>
          <ul>
            {branches.map((branch) => (
              <BranchRow
                key={branch.name}
                edited={edited}
                operationType={kind}
                path={NO_PATH}
                branch={branch}
                onEdit={setText}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function hasMutation(text: string): boolean {
  return readQuery(text, 'mutation')?.operation != null
}

const NO_PATH: readonly never[] = []

export const QUERY_BUILDER: GraphiQLPlugin = {
  title: 'Query builder',
  icon: () => <ListChecks aria-hidden="true" />,
  content: QueryBuilder,
}
