// The metadata of a project.
import type { ReactNode } from 'react'
import { CopyButton } from '../../design/copy-button.tsx'
import { When } from '../../design/when.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import type { Project } from './project.ts'

export function ProjectOverview({ project }: { readonly project: Project }): ReactNode {
  const { ref, framework, version, tags, createdAt, updatedAt, exports } = project
  const [newest] = exports
  const facts = [
    { label: 'Framework', value: [framework, version].filter(Boolean).join(' ') },
    { label: 'Created', value: createdAt && <When at={createdAt} /> },
    // Not "Changed": in the list, that also counts exports.
    { label: 'Updated', value: updatedAt && <When at={updatedAt} /> },
    { label: 'Newest export', value: newest ? <When at={newest.createdAt} /> : 'none yet' },
  ]
  return (
    <>
      <dl className="project-facts">
        <div>
          <dt>Reference</dt>
          <dd className="copied">
            <code>{ref}</code> <CopyButton label="Copy the reference" text={() => ref} isIcon />
          </dd>
        </div>
        {facts
          .filter(({ value }) => Boolean(value))
          .map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        {tags !== null && tags.length > 0 && (
          <div>
            <dt>Tags</dt>
            <dd className="buttons">
              {tags.map((tag) => (
                <bdi key={tag} className="badge">
                  {tag}
                </bdi>
              ))}
            </dd>
          </div>
        )}
      </dl>
      {newest === undefined ? (
        <p className="note">This project has no export yet.</p>
      ) : (
        <p>
          <Link to={`/?${new URLSearchParams({ route: 'GET /exports', r: ref })}`}>
            See the request for its newest export
          </Link>
        </p>
      )}
    </>
  )
}
