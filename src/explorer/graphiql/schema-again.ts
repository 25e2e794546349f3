// Loads the schema again when the gateway is reachable again, if the first load failed.
import { useSchemaStore } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { useConnection } from '../frame/use-explorer.ts'

export function SchemaAgain(): null {
  const { timesBack } = useConnection()
  const { schema, introspect } = useSchemaStore()
  const seen = useRef(timesBack)
  useEffect(() => {
    if (seen.current === timesBack) return
    seen.current = timesBack
    if (!schema) void introspect()
  }, [timesBack, schema, introspect])
  return null
}
