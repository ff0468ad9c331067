# A monitor notices that checkout fails, and declares INC-1 with a key of its own.
TOCSIN_TOKEN=$MONITOR_TOKEN tocsin alerts send --id checkout-errors --status firing --severity critical --service checkout \
  --title 'Checkout fails' --description 'One payment in three is refused'

# Ana takes it, and it is less severe than the monitor thought.
tocsin incidents get INC-1
tocsin incidents update INC-1 --status active --incident-manager ana@example.com
tocsin incidents update INC-1 --severity sev2 --impact-summary 'Card payments fail in Europe'

# What she finds out goes into the timeline; key events stand out.
tocsin timeline add INC-1 --body 'Only the new release refuses cards'
tocsin timeline add INC-1 --body 'Rolled back to 4.1' --is-key true --tags rollback

# The deployment has an incident of its own, INC-2, and somebody has declared the same again, INC-3.
tocsin incidents declare --title 'Release 4.2 of payments breaks cards' --severity sev3
tocsin incidents declare --title 'Cards are refused'
tocsin incidents relate INC-1 --type caused_by --incident INC-2
tocsin incidents relate INC-3 --type duplicate_of --incident INC-1
tocsin incidents close INC-3

# What is left to do outlives the incident.
tocsin follow-ups add INC-1 --title 'Test cards before each release' --owner ana@example.com --due-on 2099-01-31

# The monitor agrees that it is over.
TOCSIN_TOKEN=$MONITOR_TOKEN tocsin alerts send --id checkout-errors --status resolved --title 'Checkout fails'
tocsin incidents resolve INC-1 --resolution-note 'Release 4.1 serves all payments again'
tocsin incidents postmortem INC-1 > INC-1.md
