// Generated from shared/contracts by npm run generate. Do not edit.

/** The members that every event has. */
export interface EnvelopeMembers {
  /** ID of the event and of the message; the same in every delivery: deduplicate by it */
  id: string;
  /** The version of this format */
  schema_version: 1;
  /** When it happened */
  occurred_at: string;
  /** The workspace that the event belongs to */
  workspace: {
    /** ID of the workspace */
    id: number;
    /** The first label of its host name */
    slug: string;
    /** Whether it is a demo, which sends no webhooks */
    is_demo: boolean;
  };
  /** The request that caused the event, as in `X-Request-ID`; null: no request did */
  request_id: string | null;
}

/** The type of `data`, by event type. */
export interface EventData {
  'incident.created': {
    /** The incident after the change */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** What has happened, in one line */
      title: string;
      /** Slug of a service in the catalog, or another text; empty: none */
      service: string;
      /** The affected regions; empty: none */
      regions: string[];
      /** Key of the severity */
      severity: string;
      /** Key of the workflow status */
      status: string;
      /** `ticket`, `incident` or `postmortem` */
      issue_type: string;
      /** What customers notice, in words; empty: not described */
      impact_summary: string;
      /** ID of the team that owns the incident; null: none */
      team_id: number | null;
      /** When the incident was created */
      created_at: string;
      /** ID, as text, of the user whose API key created it */
      created_by: string;
      /** When it was archived; null: it is active */
      archived_at: string | null;
      /** ID of the user who archived it; null: it is active */
      archived_by?: number | null | undefined;
      /** When the status last changed; null: never since the creation */
      status_changed_at?: string | null | undefined;
      /** `manual` once a request has set the severity, otherwise `auto` */
      severity_mode?: string | undefined;
      /** ID of the linked Slack channel; empty: none */
      slack_channel_id?: string | undefined;
      /** URL of the video meeting; empty: none */
      meet_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** URL of a document about the incident; empty: none */
      doc_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** `unknown`, `none` or `confirmed` */
      customer_impact_status?: string | undefined;
      /** When the impact began; null: unknown */
      impact_started_at?: string | null | undefined;
      /** When somebody first reported the problem; null: unknown */
      first_reported_at?: string | null | undefined;
      /** When somebody first responded; null: unknown */
      first_responded_at?: string | null | undefined;
      /** When the impact ended; null: not yet, or unknown */
      recovered_at?: string | null | undefined;
      /** ID, as text, of the user who leads the response; empty: nobody */
      incident_manager?: string | undefined;
      /** IDs, as text, of the users who take part in the response */
      incident_responders?: string[] | undefined;
      /** Values by the slugs of their fields; a field without a value is absent, a large value is a digest */
      custom_fields?: Record<string, unknown> | undefined;
      /** Number of timeline events */
      event_count?: number | undefined;
      /** Start of the latest timeline event; null: there is none */
      last_event_at?: string | null | undefined;
      /** Title of the latest timeline event, else the beginning of its body; empty: no event */
      last_event_summary?: string | undefined;
    };
  };
  'incident.updated': {
    /** The incident after the change */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** What has happened, in one line */
      title: string;
      /** Slug of a service in the catalog, or another text; empty: none */
      service: string;
      /** The affected regions; empty: none */
      regions: string[];
      /** Key of the severity */
      severity: string;
      /** Key of the workflow status */
      status: string;
      /** `ticket`, `incident` or `postmortem` */
      issue_type: string;
      /** What customers notice, in words; empty: not described */
      impact_summary: string;
      /** ID of the team that owns the incident; null: none */
      team_id: number | null;
      /** When the incident was created */
      created_at: string;
      /** ID, as text, of the user whose API key created it */
      created_by: string;
      /** When it was archived; null: it is active */
      archived_at: string | null;
      /** ID of the user who archived it; null: it is active */
      archived_by?: number | null | undefined;
      /** When the status last changed; null: never since the creation */
      status_changed_at?: string | null | undefined;
      /** `manual` once a request has set the severity, otherwise `auto` */
      severity_mode?: string | undefined;
      /** ID of the linked Slack channel; empty: none */
      slack_channel_id?: string | undefined;
      /** URL of the video meeting; empty: none */
      meet_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** URL of a document about the incident; empty: none */
      doc_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** `unknown`, `none` or `confirmed` */
      customer_impact_status?: string | undefined;
      /** When the impact began; null: unknown */
      impact_started_at?: string | null | undefined;
      /** When somebody first reported the problem; null: unknown */
      first_reported_at?: string | null | undefined;
      /** When somebody first responded; null: unknown */
      first_responded_at?: string | null | undefined;
      /** When the impact ended; null: not yet, or unknown */
      recovered_at?: string | null | undefined;
      /** ID, as text, of the user who leads the response; empty: nobody */
      incident_manager?: string | undefined;
      /** IDs, as text, of the users who take part in the response */
      incident_responders?: string[] | undefined;
      /** Values by the slugs of their fields; a field without a value is absent, a large value is a digest */
      custom_fields?: Record<string, unknown> | undefined;
      /** Number of timeline events */
      event_count?: number | undefined;
      /** Start of the latest timeline event; null: there is none */
      last_event_at?: string | null | undefined;
      /** Title of the latest timeline event, else the beginning of its body; empty: no event */
      last_event_summary?: string | undefined;
    };
    /** The changed properties; empty if only the timeline changed */
    changes: ({
      /** The changed property; `custom_fields.` and its slug for a custom field */
      field: string;
      /** The value before, or its digest if it is large; null: none */
      from: unknown;
      /** The value after, or its digest if it is large; null: none */
      to: unknown;
    })[];
  };
  'incident.archived': {
    /** The incident after the change */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** What has happened, in one line */
      title: string;
      /** Slug of a service in the catalog, or another text; empty: none */
      service: string;
      /** The affected regions; empty: none */
      regions: string[];
      /** Key of the severity */
      severity: string;
      /** Key of the workflow status */
      status: string;
      /** `ticket`, `incident` or `postmortem` */
      issue_type: string;
      /** What customers notice, in words; empty: not described */
      impact_summary: string;
      /** ID of the team that owns the incident; null: none */
      team_id: number | null;
      /** When the incident was created */
      created_at: string;
      /** ID, as text, of the user whose API key created it */
      created_by: string;
      /** When it was archived; null: it is active */
      archived_at: string | null;
      /** ID of the user who archived it; null: it is active */
      archived_by?: number | null | undefined;
      /** When the status last changed; null: never since the creation */
      status_changed_at?: string | null | undefined;
      /** `manual` once a request has set the severity, otherwise `auto` */
      severity_mode?: string | undefined;
      /** ID of the linked Slack channel; empty: none */
      slack_channel_id?: string | undefined;
      /** URL of the video meeting; empty: none */
      meet_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** URL of a document about the incident; empty: none */
      doc_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** `unknown`, `none` or `confirmed` */
      customer_impact_status?: string | undefined;
      /** When the impact began; null: unknown */
      impact_started_at?: string | null | undefined;
      /** When somebody first reported the problem; null: unknown */
      first_reported_at?: string | null | undefined;
      /** When somebody first responded; null: unknown */
      first_responded_at?: string | null | undefined;
      /** When the impact ended; null: not yet, or unknown */
      recovered_at?: string | null | undefined;
      /** ID, as text, of the user who leads the response; empty: nobody */
      incident_manager?: string | undefined;
      /** IDs, as text, of the users who take part in the response */
      incident_responders?: string[] | undefined;
      /** Values by the slugs of their fields; a field without a value is absent, a large value is a digest */
      custom_fields?: Record<string, unknown> | undefined;
      /** Number of timeline events */
      event_count?: number | undefined;
      /** Start of the latest timeline event; null: there is none */
      last_event_at?: string | null | undefined;
      /** Title of the latest timeline event, else the beginning of its body; empty: no event */
      last_event_summary?: string | undefined;
    };
    /** The changed properties */
    changes?: ({
      /** The changed property; `custom_fields.` and its slug for a custom field */
      field: string;
      /** The value before, or its digest if it is large; null: none */
      from: unknown;
      /** The value after, or its digest if it is large; null: none */
      to: unknown;
    })[] | undefined;
  };
  'incident.restored': {
    /** The incident after the change */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** What has happened, in one line */
      title: string;
      /** Slug of a service in the catalog, or another text; empty: none */
      service: string;
      /** The affected regions; empty: none */
      regions: string[];
      /** Key of the severity */
      severity: string;
      /** Key of the workflow status */
      status: string;
      /** `ticket`, `incident` or `postmortem` */
      issue_type: string;
      /** What customers notice, in words; empty: not described */
      impact_summary: string;
      /** ID of the team that owns the incident; null: none */
      team_id: number | null;
      /** When the incident was created */
      created_at: string;
      /** ID, as text, of the user whose API key created it */
      created_by: string;
      /** When it was archived; null: it is active */
      archived_at: string | null;
      /** ID of the user who archived it; null: it is active */
      archived_by?: number | null | undefined;
      /** When the status last changed; null: never since the creation */
      status_changed_at?: string | null | undefined;
      /** `manual` once a request has set the severity, otherwise `auto` */
      severity_mode?: string | undefined;
      /** ID of the linked Slack channel; empty: none */
      slack_channel_id?: string | undefined;
      /** URL of the video meeting; empty: none */
      meet_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** URL of a document about the incident; empty: none */
      doc_url?: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      } | undefined;
      /** `unknown`, `none` or `confirmed` */
      customer_impact_status?: string | undefined;
      /** When the impact began; null: unknown */
      impact_started_at?: string | null | undefined;
      /** When somebody first reported the problem; null: unknown */
      first_reported_at?: string | null | undefined;
      /** When somebody first responded; null: unknown */
      first_responded_at?: string | null | undefined;
      /** When the impact ended; null: not yet, or unknown */
      recovered_at?: string | null | undefined;
      /** ID, as text, of the user who leads the response; empty: nobody */
      incident_manager?: string | undefined;
      /** IDs, as text, of the users who take part in the response */
      incident_responders?: string[] | undefined;
      /** Values by the slugs of their fields; a field without a value is absent, a large value is a digest */
      custom_fields?: Record<string, unknown> | undefined;
      /** Number of timeline events */
      event_count?: number | undefined;
      /** Start of the latest timeline event; null: there is none */
      last_event_at?: string | null | undefined;
      /** Title of the latest timeline event, else the beginning of its body; empty: no event */
      last_event_summary?: string | undefined;
    };
    /** The changed properties */
    changes?: ({
      /** The changed property; `custom_fields.` and its slug for a custom field */
      field: string;
      /** The value before, or its digest if it is large; null: none */
      from: unknown;
      /** The value after, or its digest if it is large; null: none */
      to: unknown;
    })[] | undefined;
  };
  'timeline_event.created': {
    /** The incident whose timeline changed */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** Its revision after the change: of two events about one timeline event, the larger one is newer */
      revision: number;
    };
    /** The new timeline event */
    timeline_event: {
      /** ID of the timeline event */
      id: number;
      /** Starts at 1 and increases with every change of the timeline event */
      revision: number;
      /** When it happened or began; with the ID, the order of the timeline */
      started_at: string;
      /** When it ended; null: not known, or a single moment */
      ended_at: string | null;
      /** Whether it still goes on; never true with ended_at */
      is_ongoing: boolean;
      /** ID of one of the workspace's timeline groups; null: in none */
      group_id: number | null;
      /** Whether people marked it as a key event */
      is_key: boolean;
      /** What created it: `api`, `import` for a timeline import, or another system */
      source: string;
      /** Where it comes from at its source; for `import` the URL of the document; empty: unknown */
      source_ref: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What kind of event it is; `note` if nothing else was chosen */
      type: string;
      /** At most 8 Unicode characters, usually one emoji; empty: none */
      icon: string;
      /** A heading; empty: none */
      title: string;
      /** What happened, in any number of lines */
      body: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** Starts at 1 and increases with every change of title or body */
      collaboration_generation: number;
      /** Texts to find it by; empty: none */
      tags: string[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What AI knows about it; empty: none */
      ai_context: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** ID, as text, of the user whose API key created it, or the name of a system */
      created_by: string;
      /** Start of the time in which the source looked at data; null: unknown */
      source_window_started_at: string | null;
      /** End of that time; null: unknown */
      source_window_ended_at: string | null;
      /** Links to what supports it; empty: none */
      evidence_links: ({
        /** The system where the evidence is */
        source: string;
        /** The absolute URL of the evidence */
        url: string;
        /** A short name for the link; absent without one */
        label?: string | undefined;
        /** What the evidence shows; absent without one */
        summary?: string | undefined;
        /** The ID of a stored copy of the evidence; absent without one */
        artifact_id?: string | undefined;
        /** The digest of that copy; absent without one */
        artifact_digest?: string | undefined;
        /** The size of the evidence in bytes; absent if unknown */
        result_bytes?: number | undefined;
        /** Whether the evidence was cut off; absent if unknown */
        truncated?: boolean | undefined;
      })[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
    };
  };
  'timeline_event.updated': {
    /** The incident whose timeline changed */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** Its revision after the change: of two events about one timeline event, the larger one is newer */
      revision: number;
    };
    /** The timeline event after the change */
    timeline_event: {
      /** ID of the timeline event */
      id: number;
      /** Starts at 1 and increases with every change of the timeline event */
      revision: number;
      /** When it happened or began; with the ID, the order of the timeline */
      started_at: string;
      /** When it ended; null: not known, or a single moment */
      ended_at: string | null;
      /** Whether it still goes on; never true with ended_at */
      is_ongoing: boolean;
      /** ID of one of the workspace's timeline groups; null: in none */
      group_id: number | null;
      /** Whether people marked it as a key event */
      is_key: boolean;
      /** What created it: `api`, `import` for a timeline import, or another system */
      source: string;
      /** Where it comes from at its source; for `import` the URL of the document; empty: unknown */
      source_ref: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What kind of event it is; `note` if nothing else was chosen */
      type: string;
      /** At most 8 Unicode characters, usually one emoji; empty: none */
      icon: string;
      /** A heading; empty: none */
      title: string;
      /** What happened, in any number of lines */
      body: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** Starts at 1 and increases with every change of title or body */
      collaboration_generation: number;
      /** Texts to find it by; empty: none */
      tags: string[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What AI knows about it; empty: none */
      ai_context: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** ID, as text, of the user whose API key created it, or the name of a system */
      created_by: string;
      /** Start of the time in which the source looked at data; null: unknown */
      source_window_started_at: string | null;
      /** End of that time; null: unknown */
      source_window_ended_at: string | null;
      /** Links to what supports it; empty: none */
      evidence_links: ({
        /** The system where the evidence is */
        source: string;
        /** The absolute URL of the evidence */
        url: string;
        /** A short name for the link; absent without one */
        label?: string | undefined;
        /** What the evidence shows; absent without one */
        summary?: string | undefined;
        /** The ID of a stored copy of the evidence; absent without one */
        artifact_id?: string | undefined;
        /** The digest of that copy; absent without one */
        artifact_digest?: string | undefined;
        /** The size of the evidence in bytes; absent if unknown */
        result_bytes?: number | undefined;
        /** Whether the evidence was cut off; absent if unknown */
        truncated?: boolean | undefined;
      })[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
    };
  };
  'timeline_event.deleted': {
    /** The incident whose timeline changed */
    incident: {
      /** ID of the incident */
      id: number;
      /** The reference for people, such as `INC-4`; never changes */
      reference: string;
      /** Its revision after the change: of two events about one timeline event, the larger one is newer */
      revision: number;
    };
    /** The timeline event as it was before it was deleted */
    timeline_event: {
      /** ID of the timeline event */
      id: number;
      /** Starts at 1 and increases with every change of the timeline event */
      revision: number;
      /** When it happened or began; with the ID, the order of the timeline */
      started_at: string;
      /** When it ended; null: not known, or a single moment */
      ended_at: string | null;
      /** Whether it still goes on; never true with ended_at */
      is_ongoing: boolean;
      /** ID of one of the workspace's timeline groups; null: in none */
      group_id: number | null;
      /** Whether people marked it as a key event */
      is_key: boolean;
      /** What created it: `api`, `import` for a timeline import, or another system */
      source: string;
      /** Where it comes from at its source; for `import` the URL of the document; empty: unknown */
      source_ref: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What kind of event it is; `note` if nothing else was chosen */
      type: string;
      /** At most 8 Unicode characters, usually one emoji; empty: none */
      icon: string;
      /** A heading; empty: none */
      title: string;
      /** What happened, in any number of lines */
      body: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** Starts at 1 and increases with every change of title or body */
      collaboration_generation: number;
      /** Texts to find it by; empty: none */
      tags: string[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** What AI knows about it; empty: none */
      ai_context: string | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
      /** ID, as text, of the user whose API key created it, or the name of a system */
      created_by: string;
      /** Start of the time in which the source looked at data; null: unknown */
      source_window_started_at: string | null;
      /** End of that time; null: unknown */
      source_window_ended_at: string | null;
      /** Links to what supports it; empty: none */
      evidence_links: ({
        /** The system where the evidence is */
        source: string;
        /** The absolute URL of the evidence */
        url: string;
        /** A short name for the link; absent without one */
        label?: string | undefined;
        /** What the evidence shows; absent without one */
        summary?: string | undefined;
        /** The ID of a stored copy of the evidence; absent without one */
        artifact_id?: string | undefined;
        /** The digest of that copy; absent without one */
        artifact_digest?: string | undefined;
        /** The size of the evidence in bytes; absent if unknown */
        result_bytes?: number | undefined;
        /** Whether the evidence was cut off; absent if unknown */
        truncated?: boolean | undefined;
      })[] | {
        /** SHA-256 of the value as canonical JSON (RFC 8785) */
        digest: string;
        /** The length of that JSON in UTF-8 */
        bytes: number;
      };
    };
  };
  'service.changed': {
    /** Counts the changes of the owner's data in the workspace */
    version: number;
    /** The service after the change */
    service: {
      /** ID of the service */
      id: number;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** The name for people */
      name: string;
      /** Names the service in incidents; never changes */
      slug: string;
      /** Key of the service tier */
      tier: string;
      /** ID of the team that owns the service; null: none */
      owner_team_id: number | null;
      /** When it was archived; null: it is active */
      archived_at: string | null;
    };
  };
  'team.changed': {
    /** Counts the changes of the owner's data in the workspace */
    version: number;
    /** The team after the change */
    team: {
      /** ID of the team */
      id: number;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** The name for people */
      name: string;
      /** A name for programs; never changes */
      slug: string;
      /** ID of the team above this one; null: at the top */
      parent_team_id: number | null;
      /** When it was archived; null: it is active */
      archived_at: string | null;
    };
  };
  'custom-field.changed': {
    /** Counts the changes of the owner's data in the workspace */
    version: number;
    /** The definition after the change */
    field: {
      /** ID of the field */
      id: number;
      /** The revision that this is: of two events, the larger one is newer */
      revision: number;
      /** The name for people */
      name: string;
      /** Names the field in custom_fields of incidents; never changes */
      slug: string;
      /** The form of its values; never changes */
      field_type: 'string' | 'number' | 'boolean' | 'date' | 'time' | 'datetime' | 'monetary' | 'json' | 'select' | 'multi_select' | (string & {});
      /** The value of a new incident whose request has none; absent without one */
      default_value?: unknown | undefined;
      /** Rules for the values; absent without any */
      config?: {
        /** For `string`: the most Unicode characters; default: 10,000 */
        max_length?: number | undefined;
        /** For `number` and `monetary`: the least value; default: none */
        min?: number | undefined;
        /** For `number` and `monetary`: the greatest value; default: none */
        max?: number | undefined;
        /** For `number` and `monetary`: the most decimals; default: any number */
        precision?: number | undefined;
        /** For `monetary`: the only allowed currency; default: any */
        currency?: string | undefined;
        /** For `monetary`, instead of currency: the allowed currencies, without duplicates; default: any */
        currencies?: string[] | undefined;
        /** For `select` and `multi_select`: the values to choose from, each alone or with label and color; required unless allow_custom is true */
        options?: (string | {
          /** The value that is stored; unique in its field */
          value: string;
          /** How user interfaces show it; default: the value */
          label?: string | undefined;
          /** A color for user interfaces, such as `#d92d20`; default: none */
          color?: string | undefined;
        })[] | undefined;
        /** For `select` and `multi_select`: whether other texts than the options are allowed; default: false */
        allow_custom?: boolean | undefined;
      } | undefined;
      /** Whether an incident that has a value must keep one */
      required: boolean;
      /** Whether a request that creates an incident must have a value */
      required_on_creation: boolean;
      /** Place in lists: lower comes first, then the older */
      sort_order: number;
      /** When the field was created */
      created_at: string;
      /** When the field was archived; null: it is active */
      archived_at: string | null;
    };
  };
  'workspace.changed': {
    /** Counts the changes of the owner's data in the workspace */
    version: number;
    /** The settings after the change */
    workspace: {
      /** The name for people */
      name: string;
      /** How many days back lists of incidents go; null: without limit */
      history_days: number | null;
      /** The currency, a code of three letters, that lists convert revenue to */
      reporting_currency: string;
      /** Whether a new incident must have a short title */
      short_title_required: boolean;
    };
  };
  'user.changed': {
    /** Counts the changes of the owner's data in the workspace */
    version: number;
    /** The user after the change */
    user: {
      /** ID of the user */
      id: number;
      /** E-mail address, unique in the workspace */
      email: string;
      /** The name for people */
      name: string;
      /** Whether the user may act; false after deactivation */
      active: boolean;
      /** Whether the user may write */
      seat: 'responder' | 'none' | (string & {});
      /** Decides which settings the user may change */
      role: 'owner' | 'admin' | 'manager' | 'member' | 'viewer' | (string & {});
    };
  };
  'customer-impact.updated': {
    /** ID of the workspace, as in the envelope */
    workspace_id: number;
    /** ID of an incident of that workspace */
    incident_id: number;
    /** How many customers are affected */
    affected_customers: number;
    /** The monthly recurring revenue of these customers, by currency */
    mrr: ({
      /** A currency code of three letters */
      currency: string;
      /** The amount in minor units of the currency, such as cents */
      amount_minor: number;
    })[];
    /** When this was computed; a message that is older than the last one is ignored */
    as_of: string;
  };
  'investigation.run.updated': {
    /** ID of the workspace, as in the envelope */
    workspace_id: number;
    /** ID of an incident of that workspace */
    incident_id: number;
    /** Identifies the run of the incident; a later message about it has the same */
    run_id: string;
    /** The state of the run */
    status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'unavailable' | (string & {});
    /** When the run started */
    started_at: string;
    /** When the run ended; absent until then */
    completed_at?: string | undefined;
  };
}

/** Every event type that this version knows. */
export const EVENT_TYPES = [
  'incident.created',
  'incident.updated',
  'incident.archived',
  'incident.restored',
  'timeline_event.created',
  'timeline_event.updated',
  'timeline_event.deleted',
  'service.changed',
  'team.changed',
  'custom-field.changed',
  'workspace.changed',
  'user.changed',
  'customer-impact.updated',
  'investigation.run.updated',
] as const satisfies readonly (keyof EventData)[];
