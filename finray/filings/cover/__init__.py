"""What a filing is: company, form, fiscal period and date."""
